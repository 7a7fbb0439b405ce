package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestWebhooksCreateChangeTestAndDelete(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	created := w.Call(t, "POST", harb+"/webhooks",
		`{"url": "https://example.com/hooks", "events": ["booking.created"]}`)
	if created.Status != 201 || field(t, created, "secret") != consoletest.Secret || field(t, created,
		"active") != true ||
		created.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("made: %d %s", created.Status, created.Body)
	}
	at := harb + "/webhooks/" + field(t, created, "id").(string)
	if list := w.Call(t, "GET", harb+"/webhooks", ""); list.Status != 200 ||
		len(field(t, list, "webhooks").([]any)) != 1 || strings.Contains(list.Body, "whsec_") {
		t.Errorf("listed: %d %s", list.Status, list.Body)
	}
	if got := w.Call(t, "PATCH", at, `{"events": ["*"], "active": false}`); got.Status != 200 ||
		field(t, got, "active") != false || field(t, got, "url") != "https://example.com/hooks" {
		t.Errorf("changed: %d %s", got.Status, got.Body)
	}
	if got := w.Call(t, "POST", at+"/rotate", ""); got.Status != 200 || field(t, got, "secret") != consoletest.Secret {
		t.Errorf("rotated: %d %s", got.Status, got.Body)
	}
	sent := w.Call(t, "POST", at+"/test", "")
	if sent.Status != 202 || field(t, sent, "type") != "webhook.test" {
		t.Errorf("tested: %d %s", sent.Status, sent.Body)
	}
	for query, want := range map[string]int{"": 1, "?status=pending": 1, "?status=delivered": 0} {
		if list := w.Call(t, "GET", at+"/deliveries"+query, ""); list.Status != 200 ||
			len(field(t, list, "deliveries").([]any)) != want {
			t.Errorf("%s: %d %s", query, list.Status, list.Body)
		}
	}
	if got := w.Call(t, "POST", harb+"/deliveries/"+field(t, sent, "id").(string)+"/retry", ""); got.Status != 202 {
		t.Errorf("sent again: %d %s", got.Status, got.Body)
	}
	if got := w.Call(t, "DELETE", at, ""); got.Status != 204 {
		t.Errorf("deleted: %d %s", got.Status, got.Body)
	}
	for _, change := range []string{"create webhook", "change webhook", "rotate webhook secret", "test webhook",
		"retry delivery", "delete webhook"} {
		if !strings.Contains(w.Log.String(), `"change":"`+change+`"`) {
			t.Errorf("the log does not hold %q: %s", change, w.Log)
		}
	}
	if strings.Contains(w.Log.String(), "whsec_") {
		t.Errorf("the log contains the secret: %s", w.Log)
	}
}

func TestUnknownWebhooksAreNotFound(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	expect(t, w.Call(t, "POST", harb+"/webhooks", `{"url": "http://10.0.0.1", "events": ["*"]}`), 400,
		"invalid_parameter", "url")
	expect(t, w.Call(t, "POST", harb+"/webhooks", `{"address": "https://example.com"}`), 400, "invalid_parameter",
		"address")
	expect(t, w.Call(t, "GET", harb+"/webhooks?limit=0", ""), 400, "invalid_parameter", "limit")
	for _, id := range []string{uuid.NewString(), "1"} {
		at := harb + "/webhooks/" + id
		expect(t, w.Call(t, "PATCH", at, `{"active": true}`), 404, "not_found", "Webhook")
		expect(t, w.Call(t, "DELETE", at, ""), 404, "not_found", "Webhook")
		expect(t, w.Call(t, "POST", at+"/rotate", ""), 404, "not_found", "Webhook")
		expect(t, w.Call(t, "POST", at+"/test", ""), 404, "not_found", "Webhook")
		expect(t, w.Call(t, "GET", at+"/deliveries", ""), 404, "not_found", "Webhook")
		expect(t, w.Call(t, "POST", harb+"/deliveries/"+id+"/retry", ""), 404, "not_found", "Delivery")
	}
	expect(t, w.Call(t, "GET", "/admin/businesses/elsewhere/webhooks", ""), 404, "business_not_found", "Business")
}
