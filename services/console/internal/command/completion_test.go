package command_test

import (
	"strings"
	"testing"
)

func TestCompletionOffersKeysIDsAndVersions(t *testing.T) {
	t.Parallel()
	s, _, _ := publishWorkshop(t)
	key := decode(t, s.mustRun("keys", "create", "harbor", "--name", "site", "--scope", "read", "-o",
		"json"))["id"].(string)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"1\t", []string{"rollback", "harbor", ""}},
		{"1\t", []string{"get", "harbor", "--version", ""}},
		{key + "\tsite\n", []string{"keys", "revoke", "harbor", ""}},
		{"anna\tAnna Berg\n", []string{"explain", "harbor", "--staff", ""}},
		{"cut\tHaircut\n", []string{"bookings", "list", "harbor", "--service", ""}},
		{"workshop\tClay Workshop\n", []string{"tickets", "sell", "harbor", "--event", ""}},
		{"front\tFront row\n", []string{"tickets", "sell", "harbor", "--event", "workshop", "--tier", ""}},
		{"kayak\tKayak\n", []string{"reservations", "create", "harbor", "--rental", ""}},
	} {
		if r := s.run(append([]string{"__complete"}, c.args...)...); r.code != 0 || !strings.Contains(r.out, c.want) {
			t.Errorf("completing %v: %d %q", c.args, r.code, r.out)
		}
	}
	if r := s.run("__complete", "keys", "revoke", "nobody", ""); r.code != 0 || strings.Contains(r.out, key) {
		t.Errorf("the completion for an unknown business: %q", r.out)
	}
}
