package backing

import (
	"errors"
	"strings"
	"testing"
)

// TestAddIfAllowedNeedsPermission shows that a refused installation installs nothing. Its error names the command that
// the user must run.
func TestAddIfAllowedNeedsPermission(t *testing.T) {
	t.Parallel()
	var asked, said []string
	manager := installer{
		name: "apt-get", command: []string{"sudo", "-n", "false"}, install: []string{"install"},
		packages: map[tool][]string{toolPostgres: {"postgresql"}, toolRedis: {"redis-server"}},
	}
	options := Options{
		Say:        func(line string) { said = append(said, line) },
		MayInstall: func(what string) bool { asked = append(asked, what); return false },
	}
	err := manager.addIfAllowed(t.Context(), options, toolPostgres, toolRedis)
	const command = "sudo apt-get install postgresql redis-server"
	if refused, ok := errors.AsType[*refusedInstall](err); !ok || !strings.Contains(refused.Error(), "`"+command+"`") {
		t.Errorf("%v", err)
	}
	if len(said) != 0 || len(asked) != 1 || asked[0] != command {
		t.Errorf("said %q, asked %q", said, asked)
	}
	options.MayInstall = func(string) bool { return true }
	manager.command = []string{"true"}
	if err := manager.addIfAllowed(t.Context(), options, toolRedis); err != nil || len(said) != 1 {
		t.Errorf("%v, said %q", err, said)
	}
}
