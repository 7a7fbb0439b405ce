package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// panickingReader is a reader that panics.
type panickingReader struct{ Reader }

func (panickingReader) Read(context.Context, string, string, url.Values, any) error { panic("secret") }

// TestPanicInToolIsOpaqueRefusal shows that a panic in a tool gives a fault with the code internal, and
// that only the log has the cause. The SDK calls tools in its own goroutines, so an uncaught panic would end the
// process.
func TestPanicInToolIsOpaqueRefusal(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(&log, nil))
	box := &Toolbox{Catalog: panickingReader{}, Telemetry: tel}
	ctx := caller.With(t.Context(), caller.Caller{Scope: booking.ScopeAll, Until: time.Now().Add(time.Hour)})
	answer, err := box.newHandler(box.staffTool(), tel.Counter("calls", ""))(ctx,
		&mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(answer)
	if err != nil || !answer.IsError || !bytes.Contains(shown, []byte(`"messageCode":"internal"`)) ||
		bytes.Contains(shown, []byte("secret")) {
		t.Errorf("%s, %v", shown, err)
	}
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "tools_test.go") {
		t.Errorf("the log says %s", log.String())
	}
}
