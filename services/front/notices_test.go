package front

import (
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func TestForwardSendsPaymentWebhooksToBooking(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	for path, want := range map[string]string{"stripe/webhook": "booking", "stripe/info": "catalog",
		"stripe/book": "booking"} {
		_, body := send(t, address, "POST /api/public/"+path+" HTTP/1.1\nHost: h\nContent-Length: 2\n\n{}")
		if got := decodeRequest(t, body); got.Service != want || got.URI != "/api/public/"+path || got.Body != "{}" {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, path := range []string{"harbor/webhook", "stripe/webhook/", "stripe/webhook/x"} {
		if response, _ := send(t, address, formatGet("/api/public/"+path)); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}
