package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// pythonMCP and typescriptMCP are the official SDKs of MCP on PyPI and npm. The other tests use the official SDK for
// Go.
const (
	pythonMCP     = "mcp==2.3.0"
	typescriptMCP = "@modelcontextprotocol/sdk@1.32.2"
)

// agentOutput is the output of a testdata program. The program lists the tools, finds a start and books it twice with
// one key. Then it tries the same start with another key, which is refused.
type agentOutput struct {
	Tools         []string
	Slot, Refused string
	IsError       bool
	Booking       struct {
		ID, Status string
		Start      string `json:"start_time"`
	}
}

// TestAgentSDKsFindStartsAndBook runs agents that use the MCP SDKs for Python and TypeScript. Each agent lists the
// tools, finds a start and books it once. The Python agent runs twice: with the newest revision of the protocol, and
// with the older handshake.
func TestAgentSDKsFindStartsAndBook(t *testing.T) {
	t.Parallel()
	python, node := testkit.InstallPython(t, pythonMCP), testkit.InstallNode(t, typescriptMCP)
	w := sharePlatform(t)
	w.publish(t, "agent-sdks", buildSalon("agent-sdks", 1))
	dir, env := t.TempDir(), []string{"BASE=" + w.startProxy(t, w.PublicURL),
		"KEY=" + w.createKey(t, "agent-sdks", "all"),
		"CUT=" + w.idsByName(t, "agent-sdks", "services")["Cut"], "DAY=2027-03-02"}
	copyPython(t, dir, "agent.py")
	program, err := os.ReadFile(filepath.Join("testdata", "typescript", "agent.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "agent.cjs"), string(program))
	want := []string{"book_appointment", "find_slots", "get_business_info", "list_events", "list_rentals",
		"list_services", "list_staff"}
	made := make(map[string]bool)
	for name, run := range map[string]func(env []string) testkit.ToolRun{
		"python-newest": func(env []string) testkit.ToolRun {
			return python.Python(t, dir, env, "agent.py", "auto")
		},
		"python-handshake": func(env []string) testkit.ToolRun {
			return python.Python(t, dir, env, "agent.py", "legacy")
		},
		"typescript": func(env []string) testkit.ToolRun { return node.Node(t, dir, env, "agent.cjs") },
	} {
		ran := run(append(slices.Clone(env), "IDEMPOTENCY_KEY="+name))
		var said agentOutput
		if err := json.Unmarshal([]byte(ran.Stdout), &said); err != nil || ran.Exit != 0 {
			t.Errorf("%s ended with %d: %s %s", name, ran.Exit, ran.Stdout, ran.Stderr)
			continue
		}
		if !slices.Equal(said.Tools, want) || said.Booking.Status != "pending" || said.Booking.Start != said.Slot+
			":00" || said.Refused != "slot_unavailable" || !said.IsError {
			t.Errorf("%s: %+v", name, said)
		}
		made[said.Booking.ID] = true
	}
	if n := w.countBookings(t, "agent-sdks"); n != 3 || len(made) != 3 {
		t.Errorf("%d bookings are stored, and the SDKs printed %d; want 3 and 3", n, len(made))
	}
}
