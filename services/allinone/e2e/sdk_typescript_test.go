package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// typescriptSDK is the folder of the TypeScript SDK in the repository.
const typescriptSDK = "services/catalog/sdk/typescript"

// typescriptTools are the npm packages that build the SDK, with the versions of its package.json.
var typescriptTools = []string{"openapi-typescript@7.13.0", "typescript@5.9.3"}

// comments matches the comments of generated types. A changed comment does not make a client incorrect.
var comments = regexp.MustCompile(`(?s)\s*/\*\*.*?\*/`)

// buildTypeScriptProgram packs and installs the SDK as a user would, and compiles the program sdk.ts of testdata with
// it. It returns the folder of the compiled sdk.js.
func buildTypeScriptProgram(t *testing.T, w *platform, node testkit.NodePrograms) string {
	t.Helper()
	sdk, dir := buildTypeScriptSDK(t, node), t.TempDir()
	if packed := runProgram(t, sdk, []string{"HOME=" + sdk}, "npm", "pack", "--ignore-scripts", "--pack-destination",
		dir); packed.Exit != 0 {
		t.Fatalf("npm pack fails: %s", packed.Stderr)
	}
	into := filepath.Join(dir, "node_modules", "@slotmesh", "sdk")
	if err := os.MkdirAll(into, 0o700); err != nil {
		t.Fatal(err)
	}
	if unpacked := runProgram(t, dir, nil, "tar", "-xzf", "slotmesh-sdk-1.0.0.tgz", "-C", into,
		"--strip-components=1"); unpacked.Exit != 0 {
		t.Fatal(unpacked.Stderr)
	}
	w.writeDocuments(t, dir)
	program, err := os.ReadFile(filepath.Join("testdata", "typescript", "sdk.ts"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "sdk.ts"), string(program))
	writeFile(t, filepath.Join(dir, "package.json"), `{"type": "module"}`)
	writeFile(t, filepath.Join(dir, "node.d.ts"),
		"declare const process: { env: Record<string, string | undefined> };\n")
	mustRunTool(t, node, dir, "openapi-typescript", "admin.json", "--output", "admin.ts")
	mustRunTool(t, node, dir, "tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom",
		"sdk.ts", "node.d.ts", "admin.ts")
	return dir
}

// buildTypeScriptSDK builds a copy of the SDK and returns its folder. It runs the SDK's own tests, and checks that the
// SDK's types are those that are generated from the document.
func buildTypeScriptSDK(t *testing.T, node testkit.NodePrograms) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"package.json", "tsconfig.json", "src", "test"} {
		from := filepath.Join(findRepository(), typescriptSDK, part)
		to := filepath.Join(dir, part)
		if stat, err := os.Stat(from); err != nil {
			t.Fatal(err)
		} else if stat.IsDir() {
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, to, string(text))
	}
	source, err := filepath.Abs(filepath.Join(findRepository(), publicDocument))
	if err != nil {
		t.Fatal(err)
	}
	mustRunTool(t, node, dir, "openapi-typescript", source, "--output", "made.ts")
	made, err1 := os.ReadFile(filepath.Join(dir, "made.ts"))
	stored, err2 := os.ReadFile(filepath.Join(dir, "src", "schema.ts"))
	if err1 != nil || err2 != nil || !bytes.Equal(comments.ReplaceAll(made, nil), comments.ReplaceAll(stored, nil)) {
		t.Errorf("src/schema.ts does not match the document: run `npm install && npm run generate` in %s",
			typescriptSDK)
	}
	mustRunTool(t, node, dir, "tsc")
	if tested := node.Node(t, dir, nil, "--test"); tested.Exit != 0 {
		t.Errorf("the SDK's tests fail: %s%s", tested.Stdout, tested.Stderr)
	}
	return dir
}

// mustRunTool runs a program of npm and ends the test if the program fails.
func mustRunTool(t *testing.T, node testkit.NodePrograms, dir, program string, args ...string) {
	t.Helper()
	if run := node.RunIn(t, dir, nil, program, args...); run.Exit != 0 {
		t.Fatalf("%s %q ended with %d: %s %s", program, args, run.Exit, run.Stdout, run.Stderr)
	}
}

// bookByTypeScriptSDK reads and books like bookByGoSDK, and returns the id of the booking. It also compares the
// versions of the SDK, the document and the tools.
func (w *platform) bookByTypeScriptSDK(t *testing.T, node testkit.NodePrograms, dir, slug, key string) string {
	t.Helper()
	var answer struct {
		Booking, APIVersion string
		Codes               []any
	}
	runDecoded(t, node, dir, []string{"BASE=" + w.startProxy(t, w.PublicURL), "SLUG=" + slug, "DAY=2027-03-02",
		"KEY=" + key}, &answer)
	d := readDescribed(t, publicDocument)
	if documented := d.Components.Schemas["Error"].Properties["messageCode"].Examples; !slices.Equal(answer.Codes,
		documented) {
		t.Errorf("the SDK has the codes %v, the document %v", answer.Codes, documented)
	}
	var pack struct {
		Version         string
		DevDependencies map[string]string
		Dependencies    map[string]string
	}
	text, err := os.ReadFile(filepath.Join(findRepository(), typescriptSDK, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &pack)
	}
	if err != nil || d.Info.Version != answer.APIVersion || !strings.HasPrefix(pack.Version, answer.APIVersion+".") ||
		len(pack.Dependencies) > 0 {
		t.Errorf("the document has version %s, the SDK says %s, its package %+v, %v", d.Info.Version, answer.APIVersion,
			pack, err)
	}
	for _, tool := range typescriptTools {
		if name, version, _ := strings.Cut(tool, "@"); pack.DevDependencies[name] != version {
			t.Errorf("package.json has %s %s; this test has %s", name, pack.DevDependencies[name], version)
		}
	}
	return answer.Booking
}

// checkTypeScriptSDKWebhook checks that the SDK reads the webhook of a booking and rejects a changed webhook.
func checkTypeScriptSDKWebhook(t *testing.T, node testkit.NodePrograms, dir, secret, booking string, d delivery) {
	t.Helper()
	hook := encodeJSON(t, map[string]any{"headers": d.Headers, "body": d.Body, "secret": secret,
		"now": sentTime(t, d).Unix()})
	var answer struct {
		Booking, Type, ID, Status, Email string
		Sequence                         int
	}
	runDecoded(t, node, dir, []string{"HOOK=" + string(hook)}, &answer)
	if answer.Booking != booking || answer.Type != "booking.created" || answer.ID != d.Headers["webhook-id"] ||
		answer.Status != "pending" || answer.Sequence != 1 || answer.Email != "ada@example.com" {
		t.Errorf("the program read %+v, want booking %s", answer, booking)
	}
}

// runDecoded runs the program and decodes what it prints.
func runDecoded(t *testing.T, node testkit.NodePrograms, dir string, env []string, out any) {
	t.Helper()
	run := node.Node(t, dir, env, "sdk.js")
	if err := json.Unmarshal([]byte(run.Stdout), out); err != nil || run.Exit != 0 {
		t.Fatalf("the program ended with %d: %s %s", run.Exit, run.Stdout, run.Stderr)
	}
}
