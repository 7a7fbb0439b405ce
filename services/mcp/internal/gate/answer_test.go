package gate

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// TestMissingAnswerIsFault shows that a request without an answer gets a fault. The MCP library writes
// nothing after the timeout of a request, and an empty answer would look like a success.
func TestMissingAnswerIsFault(t *testing.T) {
	t.Parallel()
	silent := &answer{ResponseWriter: httptest.NewRecorder()}
	if err := silent.missingAnswer(true); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("no call has begun, and the connection has no answer: %v", err)
	}
	if err := silent.missingAnswer(false); !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("a call has begun, but the connection has no answer: %v", err)
	}
	accepted := &answer{ResponseWriter: httptest.NewRecorder()}
	accepted.WriteHeader(http.StatusAccepted)
	if err := accepted.missingAnswer(true); err != nil {
		t.Errorf("a notification was accepted: %v", err)
	}
}
