package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// commandLine runs the slotmesh command with the admin token.
type commandLine struct {
	program string
	env     []string
}

// newOperatorCommand builds the slotmesh command like `make build` and returns it. The command belongs to another
// module.
func (w *platform) newOperatorCommand(t *testing.T) commandLine {
	t.Helper()
	program := filepath.Join(t.TempDir(), "slotmesh")
	testkit.Build(t, filepath.Join("..", "..", "console"), program, "./cmd/slotmesh")
	return commandLine{program: program, env: []string{"SLOTMESH_SERVER=" + w.AdminURL,
		"SLOTMESH_ADMIN_TOKEN=" + w.AdminToken}}
}

// run runs the command with a standard input. It returns the exit code, the standard output and the standard error.
func (o commandLine) run(t *testing.T, input string, args ...string) (int, string, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.program, append([]string{"--timeout", "110s"}, args...)...)
	var out, faults bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.env, strings.NewReader(input), &out, &faults
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), faults.String()
}

// mustRun runs a command that must succeed, and returns its JSON output.
func (o commandLine) mustRun(t *testing.T, input string, args ...string) map[string]any {
	t.Helper()
	code, out, faults := o.run(t, input, append(args, "-o", "json")...)
	var printed map[string]any
	if err := json.Unmarshal([]byte(out), &printed); code != 0 || faults != "" || err != nil {
		t.Fatalf("slotmesh %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, faults)
	}
	return printed
}

// mustFail runs a command that must end with exit code 1 and an error that contains `text`.
func (o commandLine) mustFail(t *testing.T, text, input string, args ...string) {
	t.Helper()
	if code, out, faults := o.run(t, input, args...); code != 1 || !strings.Contains(faults, text) {
		t.Errorf("slotmesh %s: exit code %d\n%s%s\nwant 1 and a sentence with %q", strings.Join(args, " "), code, out,
			faults, text)
	}
}

func TestCommandManagesBusiness(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	o := w.newOperatorCommand(t)
	manifest := buildSalon("shore", 1)

	o.mustFail(t, "<stdin>:6: timezone: ", strings.Replace(manifest, "Europe/Lisbon", "Europe/Lisboa", 1), "apply",
		"-f",
		"-")
	if first := o.mustRun(t, manifest, "apply", "-f", "-"); first["version"] != 1.0 {
		t.Errorf("first version: %v", first)
	}
	o.mustRun(t, strings.Replace(manifest, "name: Salon", "name: Shore", 1), "apply", "-f", "-", "--if-version", "1")
	o.mustFail(t, "newest version is 2", manifest, "apply", "-f", "-", "--if-version", "1")
	if rolled := o.mustRun(t, "", "rollback", "shore", "1"); rolled["version"] != 3.0 {
		t.Errorf("rolled back: %v", rolled)
	}
	if code, out, _ := o.run(t, "", "get", "shore"); code != 0 || out != manifest {
		t.Errorf("get: exit code %d\n%s", code, out)
	}
	if all := o.mustRun(t, "", "list")["businesses"].([]any); len(all) != 1 ||
		all[0].(map[string]any)["name"] != "Salon" {
		t.Errorf("list: %v", all)
	}
	if versions := o.mustRun(t, "", "history", "shore")["versions"].([]any); len(versions) != 3 {
		t.Errorf("history: %v", versions)
	}
	w.rescheduleByOperator(t, o)
}

func (w *platform) rescheduleByOperator(t *testing.T, o commandLine) {
	t.Helper()
	key := o.mustRun(t, "", "keys", "create", "shore", "--name", "site", "--scope", "write")
	cut := w.idsByName(t, "shore", "services")["Cut"]
	w.book(t, "shore", key["key"].(string), newOrder(cut, "2027-03-02", "10:00")).checkStatus(t, http.StatusCreated,
		"")

	bookings := o.mustRun(t, "", "bookings", "list", "shore", "--from", "2027-03-02", "--to", "2027-03-02", "--status",
		"pending")["bookings"].([]any)
	if len(bookings) != 1 {
		t.Fatalf("bookings: %v", bookings)
	}
	id := bookings[0].(map[string]any)["id"].(string)
	o.mustFail(t, "pending", "", "bookings", "complete", "shore", id)
	if moved := o.mustRun(t, "", "bookings", "confirm", "shore", id); moved["status"] != "confirmed" ||
		moved["customer_name"] != "Ada Example" {
		t.Errorf("confirmed: %v", moved)
	}
	o.mustFail(t, "lie ahead", "", "delete", "shore")
	o.mustRun(t, "", "bookings", "cancel", "shore", id)
	o.mustRun(t, "", "delete", "shore")
	w.get(t, "shore/info").checkStatus(t, http.StatusNotFound, "business_not_found")
	w.book(t, "shore", key["key"].(string), newOrder(cut, "2027-03-02", "11:00")).checkStatus(t,
		http.StatusUnauthorized,
		"invalid_api_key")
}
