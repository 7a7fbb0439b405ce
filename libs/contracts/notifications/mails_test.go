package notifications_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// TestFailedMailsDoNotBlockOthers shows that each recipient has a circuit breaker. Without it, a person who
// invites others could choose addresses that slow the mail server down, and no one else would get a sign-in link.
func TestFailedMailsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var mail notifications.Mail
		if err := json.NewDecoder(r.Body).Decode(&mail); err != nil {
			t.Error(err)
		}
		if mail.To == "stranger@nowhere.invalid" {
			w.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	p := peer.New("notifications", server.URL, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(p.Close)
	client := notifications.NewClient(p)
	for range 10 { // failures in a row open a circuit breaker
		if err := client.SendMail(t.Context(), notifications.Mail{To: "stranger@nowhere.invalid"}); err == nil {
			t.Fatal("SendMail reports a rejected mail as sent")
		}
	}
	if err := client.SendMail(t.Context(), notifications.Mail{To: "ana@example.com"}); err != nil {
		t.Errorf("a mail to another recipient: %v", err)
	}
}
