package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// lastCells returns the fields of the last line of a table.
func lastCells(out string) []string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Fields(lines[len(lines)-1])
}

func TestUsersInviteListChangeAndRemove(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	s.mustRun("users", "invite", "harbor", "--email", "owner@example.com", "--role", "owner")
	link := lastCells(s.mustRun("users", "invite", "harbor", "--email", "ana@example.com", "--name", "Ana", "--role",
		"desk"))
	if !strings.HasPrefix(link[0], consoletest.OwnerURL+"/sign-in/link/") {
		t.Errorf("%v", link)
	}
	id := link[len(link)-1]
	if out := s.mustRun("users", "list", "harbor"); !strings.Contains(out, "Ana") || !strings.Contains(out, "desk") {
		t.Error(out)
	}
	if out := s.mustRun("users", "role", "harbor", id, "--role", "manager"); !strings.Contains(out, "manager") {
		t.Error(out)
	}
	s.mustRun("users", "remove", "harbor", id)
	if out := s.mustRun("users", "list", "harbor"); strings.Contains(out, "Ana") {
		t.Error(out)
	}
	s.expectFailure(2, "--email", "users", "invite", "harbor")
	s.expectFailure(2, "--role", "users", "role", "harbor", id)
	s.expectFailure(1, "Member not found", "users", "remove", "harbor", id)
}

func TestLoginSavesTokenPerServer(t *testing.T) {
	t.Parallel()
	w, other := consoletest.Start(t), consoletest.Start(t)
	operator := newShell(t, w)
	made := lastCells(operator.mustRun("tokens", "create", "--name", "mine", "--role", "operator"))
	home := t.TempDir()
	ownShell := shell{t: t, env: map[string]string{"SLOTMESH_SERVER": w.URL, "HOME": home}, in: made[0] + "\n"}
	if r := ownShell.run("login"); r.code != 0 {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	if out := ownShell.mustRun("tokens", "list"); !strings.Contains(out, "mine") || strings.Contains(out, made[0]) {
		t.Error(out)
	}
	info, err := os.Stat(filepath.Join(home, ".config", "slotmesh", "tokens.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	otherShell := shell{t: t, env: map[string]string{"SLOTMESH_SERVER": other.URL, "HOME": home, "SLOTMESH_HOME": home}}
	otherShell.expectFailure(1, "slotmesh login", "list")
	ownShell.in = "wrong"
	if r := ownShell.run("login"); r.code != 1 {
		t.Errorf("a wrong token: %d %s", r.code, r.err)
	}
	if out := ownShell.mustRun("tokens", "revoke", made[len(made)-1]); !strings.Contains(out, "revoked") {
		t.Error(out)
	}
	ownShell.expectFailure(1, "not the right one", "tokens", "list")
}

// TestUsersAreLimitedToLocations shows that the commands name locations by key, name or id, and that a change of the
// role alone keeps them.
func TestUsersAreLimitedToLocations(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor") + `locations:
  - {key: quay, kind: place, name: The Quay, id: 00000000-0000-4000-8000-0000000000a1}
  - {key: station, kind: place, name: Station, id: 00000000-0000-4000-8000-0000000000a2}
`
	s.mustRun("apply", "-f", "-")
	invited := lastCells(s.mustRun("users", "invite", "harbor", "--email", "ana@example.com", "--role", "desk",
		"--location", "quay", "--location", "Station"))
	id := invited[len(invited)-1]
	for _, step := range []struct {
		flags []string
		want  string
	}{
		{nil, "a1 a2"},
		{[]string{"--location", "The Quay"}, "a1"},
		{[]string{"--location", "00000000-0000-4000-8000-0000000000a2"}, "a2"},
		{[]string{"--all-locations"}, ""},
	} {
		s.mustRun(append([]string{"users", "role", "harbor", id, "--role", "viewer"}, step.flags...)...)
		listed := s.mustRun("users", "list", "harbor", "-o", "json")
		var got []string
		for _, end := range []string{"a1", "a2"} {
			if strings.Contains(listed, "00000000-0000-4000-8000-0000000000"+end) {
				got = append(got, end)
			}
		}
		if strings.Join(got, " ") != step.want {
			t.Errorf("%v: %s, want %s", step.flags, listed, step.want)
		}
	}
	s.expectFailure(1, "there is quay, station", "users", "role", "harbor", id, "--role", "desk", "--location", "pier")
}
