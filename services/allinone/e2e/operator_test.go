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

// operator is somebody with the slotmesh command and the admin token.
type operator struct {
	program string
	env     []string
}

// operator builds the command as `make build` does: it is no part of this module.
func (w *world) operator(t *testing.T) operator {
	t.Helper()
	program := filepath.Join(t.TempDir(), "slotmesh")
	testkit.Build(t, filepath.Join("..", "..", "console"), program, "./cmd/slotmesh")
	return operator{program: program, env: []string{"SLOTMESH_SERVER=" + w.AdminURL,
		"SLOTMESH_ADMIN_TOKEN=" + w.AdminToken}}
}

// run gives the command its standard input and returns its exit code and what it printed.
func (o operator) run(t *testing.T, input string, args ...string) (int, string, string) {
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

// must runs a command that has to succeed and reads its JSON, where it prints any.
func (o operator) must(t *testing.T, input string, args ...string) map[string]any {
	t.Helper()
	code, out, faults := o.run(t, input, append(args, "-o", "json")...)
	var printed map[string]any
	if err := json.Unmarshal([]byte(out), &printed); code != 0 || faults != "" || err != nil {
		t.Fatalf("slotmesh %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, faults)
	}
	return printed
}

// refused runs a command that has to end with exit code 1 and a sentence that holds the text.
func (o operator) refused(t *testing.T, text, input string, args ...string) {
	t.Helper()
	if code, out, faults := o.run(t, input, args...); code != 1 || !strings.Contains(faults, text) {
		t.Errorf("slotmesh %s: exit code %d\n%s%s\nwant 1 and a sentence with %q", strings.Join(args, " "), code, out,
			faults, text)
	}
}

func TestAnOperatorRunsABusinessFromTheCommandLine(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.operator(t)
	manifest := salon("shore", 1)

	o.refused(t, "<stdin>:6: timezone: ", strings.Replace(manifest, "Europe/Lisbon", "Europe/Lisboa", 1), "apply", "-f",
		"-")
	if first := o.must(t, manifest, "apply", "-f", "-"); first["version"] != 1.0 {
		t.Errorf("first version: %v", first)
	}
	o.must(t, strings.Replace(manifest, "name: Salon", "name: Shore", 1), "apply", "-f", "-", "--if-version", "1")
	o.refused(t, "newest version is 2", manifest, "apply", "-f", "-", "--if-version", "1")
	if rolled := o.must(t, "", "rollback", "shore", "1"); rolled["version"] != 3.0 {
		t.Errorf("rolled back: %v", rolled)
	}
	if code, out, _ := o.run(t, "", "get", "shore"); code != 0 || out != manifest {
		t.Errorf("get: exit code %d\n%s", code, out)
	}
	if all := o.must(t, "", "list")["businesses"].([]any); len(all) != 1 || all[0].(map[string]any)["name"] != "Salon" {
		t.Errorf("list: %v", all)
	}
	if versions := o.must(t, "", "history", "shore")["versions"].([]any); len(versions) != 3 {
		t.Errorf("history: %v", versions)
	}
	w.operatorMovesABooking(t, o)
}

func (w *world) operatorMovesABooking(t *testing.T, o operator) {
	t.Helper()
	key := o.must(t, "", "keys", "create", "shore", "--name", "site", "--scope", "write")
	cut := w.named(t, "shore", "services")["Cut"]
	w.book(t, "shore", key["key"].(string), appointment(cut, "2027-03-02", "10:00")).want(t, http.StatusCreated, "")

	bookings := o.must(t, "", "bookings", "list", "shore", "--from", "2027-03-02", "--to", "2027-03-02", "--status",
		"pending")["bookings"].([]any)
	if len(bookings) != 1 {
		t.Fatalf("bookings: %v", bookings)
	}
	id := bookings[0].(map[string]any)["id"].(string)
	o.refused(t, "pending", "", "bookings", "complete", "shore", id)
	if moved := o.must(t, "", "bookings", "confirm", "shore", id); moved["status"] != "confirmed" ||
		moved["customer_name"] != "Ada Example" {
		t.Errorf("confirmed: %v", moved)
	}
	o.refused(t, "lie ahead", "", "delete", "shore")
	o.must(t, "", "bookings", "cancel", "shore", id)
	o.must(t, "", "delete", "shore")
	w.get(t, "shore/info").want(t, http.StatusNotFound, "business_not_found")
	w.book(t, "shore", key["key"].(string), appointment(cut, "2027-03-02", "11:00")).want(t, http.StatusUnauthorized,
		"invalid_api_key")
}
