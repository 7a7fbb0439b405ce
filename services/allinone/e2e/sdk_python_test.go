package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// pythonSDK is the folder of the Python SDK in the repository.
const pythonSDK = "services/catalog/sdk/python"

// pythonSDKTools are packages of PyPI that build and check the SDK.
var pythonSDKTools = []string{"setuptools==80.9.0", "wheel==0.45.1", "mypy==1.18.2", "datamodel-code-generator==0.89.0"}

// buildPythonProgram builds the SDK's wheel and unpacks it as pip does. It runs the SDK's own tests and the check of its
// types, and compares the types with the document. It returns a folder with the package and the program sdk.py of
// testdata.
func buildPythonProgram(t *testing.T, python testkit.PythonPackages) string {
	t.Helper()
	sdk, dir := t.TempDir(), t.TempDir()
	if err := os.CopyFS(sdk, os.DirFS(filepath.Join(findRepository(), pythonSDK))); err != nil {
		t.Fatal(err)
	}
	run := func(at string, args ...string) {
		t.Helper()
		if done := python.Python(t, at, nil, args...); done.Exit != 0 {
			t.Fatalf("%q ended with %d: %s %s", args, done.Exit, done.Stdout, done.Stderr)
		}
	}
	run(sdk, "-m", "unittest", "tests/test_client.py")
	run(sdk, "-m", "mypy", "--strict", "--cache-dir", t.TempDir(), "slotmesh")
	document, err := filepath.Abs(filepath.Join(findRepository(), publicDocument))
	if err != nil {
		t.Fatal(err)
	}
	script, err1 := os.ReadFile(filepath.Join(sdk, "generate"))
	_, flags, _ := strings.Cut(strings.ReplaceAll(string(script), "\\\n", ""), "openapi --openapi-scopes")
	args := strings.Fields("-m datamodel_code_generator --input-file-type openapi --openapi-scopes " +
		flags[:strings.Index(flags, "--output \"")])
	run(sdk, append(args, "--input", document, "--output", "made.py")...)
	made, err2 := os.ReadFile(filepath.Join(sdk, "made.py"))
	stored, err3 := os.ReadFile(filepath.Join(sdk, "slotmesh", "types.py"))
	if err1 != nil || err2 != nil || err3 != nil || string(made) != string(stored) {
		t.Errorf("slotmesh/types.py does not match the document: run ./generate in %s", pythonSDK)
	}
	run(sdk, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", dir, ".")
	run(dir, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", dir, "--find-links", dir,
		"slotmesh==1.0.0")
	copyPython(t, dir, "sdk.py")
	return dir
}

// bookByPythonSDK reads and books like bookByGoSDK, and returns the id of the booking. It also compares the versions
// and codes of the SDK and the document.
func (w *platform) bookByPythonSDK(t *testing.T, python testkit.PythonPackages, dir, slug, key string) string {
	t.Helper()
	var answer struct {
		Booking, APIVersion string
		Codes               []any
	}
	runPythonProgram(t, python, dir, []string{"BASE=" + w.startProxy(t, w.PublicURL), "SLUG=" + slug, "DAY=2027-03-03",
		"KEY=" + key}, &answer)
	d := readDescribed(t, publicDocument)
	documented := d.Components.Schemas["Error"].Properties["messageCode"].Examples
	if d.Info.Version != answer.APIVersion || !slices.Equal(answer.Codes, documented) {
		t.Errorf("the SDK has version %s and the codes %v, the document %s and %v", answer.APIVersion, answer.Codes,
			d.Info.Version, documented)
	}
	return answer.Booking
}

// checkPythonSDKWebhook checks that the SDK reads the webhook of a booking and rejects a changed webhook.
func checkPythonSDKWebhook(t *testing.T, python testkit.PythonPackages, dir, secret, booking string, d delivery) {
	t.Helper()
	hook := encodeJSON(t, map[string]any{"headers": d.Headers, "body": d.Body, "secret": secret,
		"now": sentTime(t, d).Unix()})
	var answer struct {
		Booking, Type, ID, Status, Email string
		Sequence                         int
	}
	runPythonProgram(t, python, dir, []string{"HOOK=" + string(hook)}, &answer)
	if answer.Booking != booking || answer.Type != "booking.created" || answer.ID != d.Headers["webhook-id"] ||
		answer.Status != "pending" || answer.Sequence != 1 || answer.Email != "ada@example.com" {
		t.Errorf("the program read %+v, want booking %s", answer, booking)
	}
}

// runPythonProgram runs the program and decodes what it prints.
func runPythonProgram(t *testing.T, python testkit.PythonPackages, dir string, env []string, out any) {
	t.Helper()
	run := python.Python(t, dir, env, "sdk.py")
	if err := json.Unmarshal([]byte(run.Stdout), out); err != nil || run.Exit != 0 {
		t.Fatalf("the program ended with %d: %s %s", run.Exit, run.Stdout, run.Stderr)
	}
}
