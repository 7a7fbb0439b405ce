package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/console/internal/command"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// result is the exit code and the output of one run of the command.
type result struct {
	code     int
	out, err string
}

// shell runs the command slotmesh with the environment `env` and the standard input `in`.
type shell struct {
	t   *testing.T
	env map[string]string
	in  string
}

// newShell returns a shell that is configured with the address and the operator's token of a console.
func newShell(t *testing.T, w *consoletest.Fixture) shell {
	return shell{t: t, env: map[string]string{"SLOTMESH_SERVER": w.URL, "SLOTMESH_ADMIN_TOKEN": consoletest.Token}}
}

// run runs the command with the timeout testkit.MaxWait, so that a slow machine does not fail the test.
func (s shell) run(args ...string) result {
	s.t.Helper()
	if len(args) > 0 && args[0] != "__complete" {
		args = append([]string{"--timeout=" + testkit.MaxWait.String()}, args...)
	}
	var out, err bytes.Buffer
	host := command.Host{Stdin: strings.NewReader(s.in), Stdout: &out, Stderr: &err, Getenv: func(name string) string {
		return s.env[name]
	}}
	code := command.Run(context.WithoutCancel(s.t.Context()), host, args)
	return result{code: code, out: out.String(), err: err.String()}
}

// mustRun runs the command and returns its output. The test fails unless the command succeeds and writes nothing to
// standard error.
func (s shell) mustRun(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 || r.err != "" {
		s.t.Fatalf("slotmesh %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// expectFailure runs the command and expects exit code `code` and one sentence on standard error that contains `text`.
func (s shell) expectFailure(code int, text string, args ...string) {
	s.t.Helper()
	r := s.run(args...)
	output, usage, _ := strings.Cut(r.err, "\n")
	isCalledWrong := code == 2 // a usage error; the line "Usage: …" follows it
	if r.code != code || r.out != "" || strings.HasPrefix(usage, "Usage: slotmesh") != isCalledWrong ||
		strings.Count(output+usage, "\n") > 1 || !strings.HasPrefix(r.err, "slotmesh: ") || !strings.Contains(r.err,
		text) {
		s.t.Errorf("slotmesh %s: exit code %d, out %q, err %q; want code %d and one sentence with %q",
			strings.Join(args, " "), r.code, r.out, r.err, code, text)
	}
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	return members
}

func TestApplyGetAndRollback(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	first, second := consoletest.BuildManifest("harbor", "Harbor"), consoletest.BuildManifest("harbor", "Port")
	if out := s.mustRun("apply", "-f", writeFile(t, first)); out != "harbor: version 1 is published\n" {
		t.Errorf("apply: %q", out)
	}
	s.in = second
	if out := s.mustRun("apply", "-f", "-", "-o", "json"); decode(t, out)["version"] != 2.0 {
		t.Errorf("apply: %q", out)
	}
	if out := s.mustRun("get", "harbor"); out != second {
		t.Errorf("get: %s", cmp.Diff(second, out))
	}
	if out := s.mustRun("get", "harbor", "--version", "1", "-o", "yaml"); out != first {
		t.Errorf("get: %s", cmp.Diff(first, out))
	}
	if out := s.mustRun("get", "harbor", "-o", "json"); decode(t, out)["name"] != "Port" {
		t.Errorf("get: %q", out)
	}
	if out := s.mustRun("get", "harbor", "-o", "table"); !strings.Contains(out,
		"Port  EUR       Europe/Lisbon  0      1         0") {
		t.Errorf("get: %q", out)
	}
	if out := s.mustRun("rollback", "harbor", "1"); out != "harbor: version 1 is published again as version 3\n" {
		t.Errorf("rollback: %q", out)
	}
	want := "VERSION  PUBLISHED             BY\n3        2026-11-21T09:00:00Z  -\n2        2026-11-21T09:00:00Z  -\n1        2026-11-21T09:00:00Z  -\n"
	if diff := cmp.Diff(want, s.mustRun("history", "harbor")); diff != "" {
		t.Error(diff)
	}
}

func TestApplyRejectsStaleVersion(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	s.mustRun("apply", "-f", writeFile(t, consoletest.BuildManifest("harbor", "Harbor")))
	path := writeFile(t, consoletest.BuildManifest("harbor", "Port"))
	s.mustRun("apply", "-f", path, "--if-version", "1")
	s.expectFailure(1, "newest version is 2", "apply", "-f", path, "--if-version", "1")
}

func TestProblemsHaveFileAndLine(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	bad := strings.Replace(consoletest.BuildManifest("harbor", "Harbor"), "Europe/Lisbon", "Europe/Lisboa", 1) +
		"colour: blue\n"
	path := writeFile(t, bad)
	for _, name := range []string{"apply", "validate"} {
		r := s.run(name, "-f", path)
		lines := strings.Split(strings.TrimSpace(r.err), "\n")
		if r.code != 1 || r.out != "" || len(lines) != 2 || !strings.HasPrefix(lines[0], path+":6: timezone: ") ||
			!strings.HasPrefix(lines[1], path+":10: colour: ") {
			t.Errorf("%s: %d %q\n%s", name, r.code, r.out, r.err)
		}
		r = s.run(name, "-f", path, "-o", "json")
		verdict := decode(t, r.out)
		if problems, _ := verdict["problems"].([]any); r.code != 1 || verdict["valid"] != false || len(problems) != 2 {
			t.Errorf("%s -o json: %d %s", name, r.code, r.out)
		}
	}
	s.in = bad
	if r := s.run("apply", "-f", "-"); !strings.HasPrefix(r.err, "<stdin>:6: timezone: ") {
		t.Errorf("from standard input: %s", r.err)
	}
}

func TestOverlapWarningsHaveFileAndLine(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	path := writeFile(t, consoletest.BuildManifest("harbor", "Harbor")+"hours: {mon: ['09:00-12:00', '10:00-11:00']}\n")
	for _, name := range []string{"validate", "plan", "apply"} { // plan runs before the business is published
		if r := s.run(name, "-f", path); r.code != 0 || r.out == "" || !strings.HasPrefix(r.err,
			path+":10: warning: hours.mon[1]: ") || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %d %q\n%s", name, r.code, r.out, r.err)
		}
	}
	for _, name := range []string{"validate", "plan"} {
		if list, _ := decode(t, s.mustRun(name, "-f", path, "-o", "json"))["warnings"].([]any); len(list) != 1 {
			t.Errorf("%s as JSON: %v", name, list)
		}
	}
}

func TestApplyValidatesManifestWithoutSlug(t *testing.T) {
	t.Parallel()
	s := shell{t: t} // no server is configured: the command must not call one
	for content, place := range map[string]string{
		strings.Replace(consoletest.BuildManifest("x", "X"), "slug: x", "slug: Not A Slug", 1): ":3: slug: ",
		"apiVersion: slotmesh/v1\n": "slug",
		"{\"slug\": \n":             ":",
		"":                          ":1: ",
	} {
		path := writeFile(t, content)
		if r := s.run("apply", "-f", path); r.code != 1 || !strings.HasPrefix(r.err, path+":") ||
			!strings.Contains(r.err, place) {
			t.Errorf("%q: %d %s", content, r.code, r.err)
		}
	}
}

func TestValidateNeedsNoServer(t *testing.T) {
	t.Parallel()
	s := shell{t: t, in: consoletest.BuildManifest("harbor", "Harbor")}
	if out := s.mustRun("validate", "-f", "-"); out != "<stdin> is valid\n" {
		t.Errorf("%q", out)
	}
	if out := s.mustRun("validate", "-f", "-", "-o", "json"); decode(t, out)["valid"] != true {
		t.Errorf("%q", out)
	}
	s.expectFailure(2, "--file", "validate")
	s.expectFailure(1, "no such file", "validate", "-f", filepath.Join(t.TempDir(), "none.yaml"))
	s.expectFailure(1, "cannot be read", "validate", "-f", t.TempDir())
	s.in = strings.Repeat("# filler\n", 1<<20)
	s.expectFailure(1, "too large", "validate", "-f", "-")
}

func TestListsReadAllPages(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	for _, slug := range strings.Fields("a b c d e f g") { // the fake server returns three businesses a page
		s.in = consoletest.BuildManifest(slug, "Name of "+slug)
		s.mustRun("apply", "-f", "-")
	}
	out := s.mustRun("list")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 8 || strings.Fields(lines[0])[0] != "SLUG" || !strings.HasPrefix(lines[7],
		"g     Name of g  1        2026-11-21T09:00:00Z  ") {
		t.Errorf("%s", out)
	}
	listed := decode(t, s.mustRun("list", "-o", "json"))
	if len(listed["businesses"].([]any)) != 7 {
		t.Errorf("%v", listed)
	}
	var document struct {
		Businesses []struct{ Slug string }
	}
	if err := yaml.Unmarshal([]byte(s.mustRun("list", "-o", "yaml")), &document); err != nil ||
		len(document.Businesses) != 7 {
		t.Errorf("%v %v", document, err)
	}
}

func TestYAMLEqualsJSON(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	id := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	b := newBooking("pending")
	b.CustomerName, b.CustomerEmail = "yes", "2026-01-01"
	b.Source = "a: b\n# c"
	w.Booking.Add(id, b)
	var viaYAML, viaJSON any
	if err := yaml.Unmarshal([]byte(s.mustRun("bookings", "list", "harbor", "-o", "yaml")), &viaYAML); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(s.mustRun("bookings", "list", "harbor", "-o", "json")), &viaJSON)
	normal, _ := json.Marshal(viaYAML)
	_ = json.Unmarshal(normal, &viaYAML)
	if diff := cmp.Diff(viaJSON, viaYAML); diff != "" {
		t.Error(diff)
	}
}

func TestKeysCreateListAndRevoke(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	s.mustRun("apply", "-f", "-")
	key := decode(t, s.mustRun("keys", "create", "harbor", "--name", "site", "--scope", "write", "--expires-at",
		"2027-03-01T09:00:00Z", "-o", "json"))
	if secret, _ := key["key"].(string); !strings.HasPrefix(secret, "sm_") ||
		key["expires_at"] != "2027-03-01T09:00:00Z" {
		t.Fatalf("%v", key)
	}
	if out := s.mustRun("keys", "create", "harbor", "--name", "second", "--scope", "all"); !strings.Contains(out,
		"sm_0123456701234567") {
		t.Errorf("the key is not shown: %s", out)
	}
	id := key["id"].(string)
	if out := s.mustRun("keys", "revoke", "harbor", id); out != id+" is revoked\n" {
		t.Errorf("%q", out)
	}
	out := s.mustRun("keys", "list", "harbor")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], id) || !strings.HasSuffix(lines[1], "2026-11-21T09:00:00Z") ||
		!strings.HasSuffix(lines[2], "-") {
		t.Errorf("%s", out)
	}
	s.expectFailure(2, "--name", "keys", "create", "harbor", "--scope", "all")
	s.expectFailure(2, "--scope", "keys", "create", "harbor", "--name", "n")
	s.expectFailure(2, "--expires-at", "keys", "create", "harbor", "--name", "n", "--scope", "all", "--expires-at",
		"soon")
	s.expectFailure(1, "scope", "keys", "create", "harbor", "--name", "n", "--scope", "admin")
	s.expectFailure(1, "Key not found", "keys", "revoke", "harbor", "nonsense/../..")
}

func newBooking(status string) booking.Booking {
	staff := "Anna"
	return booking.Booking{
		ID: uuid.New(), Status: status, Date: "2026-12-01", StartTime: "10:00:00", EndTime: "10:45:00",
		StartsAt: consoletest.Epoch, EndsAt: consoletest.Epoch, StaffName: &staff, PartySize: 1,
		Services: []booking.BookedService{{Name: "Haircut", Price: "40.00"}, {Name: "Colour", Price: "60.00"}},
		Total:    "100.00", Currency: "EUR", Source: "api", CustomerName: "Cara", CustomerEmail: "cara@example.com",
	}
}

func TestBookingsListAndTransition(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	business := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	mine, other := newBooking("pending"), newBooking("cancelled")
	other.CustomerName = "\x1b[31mMallory\nx\ty"
	w.Booking.Add(business, mine)
	w.Booking.Add(business, other)
	id := mine.ID.String()

	lines := strings.Split(s.mustRun("bookings", "list", "harbor"), "\n")
	if want := id +
		"  2026-12-01  10:00-10:45  pending    Cara              Anna   Haircut, Colour  100.00 EUR  api"; len(lines) != 4 || lines[1] != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), want)
	}
	if !strings.Contains(lines[2], " [31mMallory x y  Anna") {
		t.Errorf("control characters reach the terminal: %q", lines[2])
	}
	if out := s.mustRun("bookings", "list", "harbor", "--status", "cancelled", "--from", "2026-12-01", "--to",
		"2026-12-01"); strings.Contains(out, id) {
		t.Errorf("filters do not reach the server: %s", out)
	}
	if out := s.mustRun("bookings", "confirm", "harbor", id); !strings.Contains(out, "confirmed") {
		t.Error(out)
	}
	s.expectFailure(1, "cannot be moved", "bookings", "confirm", "harbor", id)
	if out := s.mustRun("bookings", "no-show", "harbor", id, "-o", "json"); decode(t, out)["status"] != "no_show" {
		t.Error(out)
	}
	if out := s.mustRun("bookings", "reopen", "harbor", id, "-o", "json"); decode(t, out)["status"] != "confirmed" {
		t.Error(out)
	}
	s.mustRun("bookings", "no-show", "harbor", id)
	s.expectFailure(1, "from", "bookings", "list", "harbor", "--from", "2027-02-29")
	s.expectFailure(1, "cannot be moved", "bookings", "complete", "harbor", id)
	s.expectFailure(1, "cannot be moved", "bookings", "cancel", "harbor", id)
	third := newBooking("confirmed")
	w.Booking.Add(business, third)
	id = third.ID.String()
	if out := s.mustRun("bookings", "cancellation", "harbor", id); !strings.Contains(out,
		"yes      20.00 EUR  50 %     2026-11-21T09:00:00Z") {
		t.Error(out)
	}
	s.expectFailure(2, "an amount such as 12.50", "bookings", "cancel", "harbor", id, "--refund", "half")
	if out := s.mustRun("bookings", "cancel", "harbor", id, "--refund", "12.50"); !strings.Contains(out, "cancelled") ||
		!strings.Contains(out, "12.50 EUR pending") {
		t.Error(out)
	}
	if out := s.mustRun("bookings", "cancellation", "harbor", id); !strings.Contains(out, "no: cancelled") {
		t.Error(out)
	}
	if out := s.mustRun("bookings", "refund", "harbor", id); !strings.Contains(out, "40.00 EUR pending") {
		t.Error(out)
	}
}

func TestDeleteNeedsForceForFutureBookings(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	w.Booking.Add(uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string)),
		newBooking("pending"))
	s.expectFailure(1, "lie ahead", "delete", "harbor")
	if out := s.mustRun("delete", "harbor", "--force"); out != "harbor is removed\n" {
		t.Errorf("%q", out)
	}
	s.expectFailure(1, "Business not found", "get", "harbor")
}

func TestTokenIsReadFromEachPlace(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "admin-token"), []byte(consoletest.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  map[string]string
		args []string
		code int
	}{
		{map[string]string{"SLOTMESH_HOME": home}, nil, 0},
		{map[string]string{"SLOTMESH_ADMIN_TOKEN": consoletest.Token}, nil, 0},
		{map[string]string{"SLOTMESH_ADMIN_TOKEN_FILE": filepath.Join(home, "admin-token")}, nil, 0},
		{map[string]string{"SLOTMESH_ADMIN_TOKEN_FILE": filepath.Join(home, "no-file")}, nil, 1},
		{map[string]string{"SLOTMESH_HOME": home, "SLOTMESH_ADMIN_TOKEN": "a wrong one"}, nil, 1},
		{map[string]string{"SLOTMESH_ADMIN_TOKEN": "a wrong one"}, []string{"--token", consoletest.Token}, 0},
		{map[string]string{"SLOTMESH_HOME": t.TempDir()}, nil, 1},
	} {
		s := shell{t: t, env: c.env}
		if r := s.run(append([]string{"list", "--server", w.URL + "/"}, c.args...)...); r.code != c.code {
			t.Errorf("%v %v: %d %s", c.env, c.args, r.code, r.err)
		}
	}
}

func TestTokenIsReadFromWorkingDirectory(t *testing.T) {
	w := consoletest.Start(t)
	t.Chdir(t.TempDir())
	s := shell{t: t, env: map[string]string{"SLOTMESH_SERVER": w.URL}}
	s.expectFailure(1, ".slotmesh/admin-token", "list")
	if err := os.Mkdir(".slotmesh", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(".slotmesh/admin-token", []byte(consoletest.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mustRun("list")
}

func TestFailuresHaveExitCodes(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	for _, args := range [][]string{
		{"frobnicate"}, {"list", "--frob"}, {"list", "extra"}, {"get"}, {"rollback", "harbor"},
		{"rollback", "harbor", "x"},
		{"keys", "frob"}, {"list", "-o", "xml"}, {"list", "--timeout", "soon"}, {"list", "--server", "nowhere"},
		{"apply"},
	} {
		s.expectFailure(2, "", args...)
	}
	s.expectFailure(1, "Business not found", "history", "nobody")
	s.expectFailure(1, "SLOTMESH_ADMIN_TOKEN", "list", "--token", "a wrong one")
	s.expectFailure(3, "does not answer", "list", "--server", "http://127.0.0.1:1")
	if r := s.run("list", "--server", "http://127.0.0.1:1"); strings.Contains(r.err, "/admin/") {
		t.Errorf("the sentence shows the request: %s", r.err)
	}
}

func TestHelpAndCompletionWork(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	for _, args := range [][]string{nil, {"--help"}, {"keys"}, {"bookings", "list", "--help"}} {
		if out := s.mustRun(args...); !strings.Contains(out, "Usage:") {
			t.Errorf("%v: %q", args, out)
		}
	}
	for _, name := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := s.mustRun("completion", name); !strings.Contains(out, "slotmesh") {
			t.Errorf("%s: %q", name, out)
		}
	}
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	s.mustRun("apply", "-f", "-")
	for want, args := range map[string][]string{
		"harbor\tHarbor\n": {"get", ""},
		"write\n":          {"keys", "create", "harbor", "--scope", ""},
		"no_show\n":        {"bookings", "list", "harbor", "--status", ""},
		"yaml\n":           {"list", "-o", ""},
		"rollback\t":       {""},
	} {
		if r := s.run(append([]string{"__complete"}, args...)...); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("completing %v: %d %q", args, r.code, r.out)
		}
	}
}
