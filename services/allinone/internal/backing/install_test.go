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
	var requests, lines []string
	manager := installer{
		name: "apt-get", command: []string{"sudo", "-n", "false"}, install: []string{"install"},
		packages: map[tool][]string{toolPostgres: {"postgresql"}, toolRedis: {"redis-server"}},
	}
	options := Options{
		Say:        func(line string) { lines = append(lines, line) },
		MayInstall: func(label string) bool { requests = append(requests, label); return false },
	}
	err := manager.addIfAllowed(t.Context(), options, toolPostgres, toolRedis)
	const command = "sudo apt-get install postgresql redis-server"
	if refused, ok := errors.AsType[*refusedInstall](err); !ok || !strings.Contains(refused.Error(), "`"+command+"`") {
		t.Errorf("%v", err)
	}
	if len(lines) != 0 || len(requests) != 1 || requests[0] != command {
		t.Errorf("printed %q, asked for permission to run %q", lines, requests)
	}
	options.MayInstall = func(string) bool { return true }
	manager.command = []string{"true"}
	if err := manager.addIfAllowed(t.Context(), options, toolRedis); err != nil || len(lines) != 1 {
		t.Errorf("%v, printed %q", err, lines)
	}
}
