package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestMessagesListShowAndRetry(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	mailed := w.Notifications.ReplaceMessages(publish(t, w), 2)
	for query, want := range map[string]int{
		"": 2, "?status=failed": 1, "?status=sent&kind=booking_confirmed": 1, "?kind=reminder": 0, "?limit=1": 1,
		"?about=" + mailed[1].About.ID.String(): 1, "?about=" + uuid.NewString(): 0,
	} {
		list := w.Call(t, "GET", harb+"/messages"+query, "")
		if list.Status != 200 || len(field(t, list, "messages").([]any)) != want || strings.Contains(list.Body,
			"Hello") {
			t.Errorf("%s: %d %s", query, list.Status, list.Body)
		}
	}
	first := w.Call(t, "GET", harb+"/messages?limit=1", "")
	if next := w.Call(t, "GET", harb+"/messages?limit=1&cursor="+field(t, first, "next_cursor").(string),
		""); !strings.Contains(next.Body, mailed[1].ID.String()) {
		t.Errorf("the next page: %s", next.Body)
	}
	at := harb + "/messages/" + mailed[0].ID.String()
	page := w.Call(t, "GET", at, "")
	if page.Status != 200 || field(t, page, "text") != mailed[0].Text || field(t, page, "html") != mailed[0].HTML ||
		field(t, page, "reason") != "550 No such user" ||
		field(t, page, "sent_at") != nil || page.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("shown: %d %s", page.Status, page.Body)
	}
	if second := w.Call(t, "POST", at+"/retry", ""); second.Status != 202 || field(t, second, "status") != "queued" {
		t.Errorf("sent again: %d %s", second.Status, second.Body)
	}
	expect(t, w.Call(t, "POST", harb+"/messages/"+mailed[1].ID.String()+"/retry", ""), 409, "conflict", "was sent")
	if log := w.Log.String(); !strings.Contains(log, `"change":"retry message"`) || strings.Contains(log, "zoe@") ||
		strings.Contains(log, "Zoë") {
		t.Errorf("the log: %s", log)
	}
}

func TestUnknownMessagesAreNotFound(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	expect(t, w.Call(t, "GET", harb+"/messages?status=lost", ""), 400, "invalid_parameter", "status")
	expect(t, w.Call(t, "GET", harb+"/messages?limit=0", ""), 400, "invalid_parameter", "limit")
	expect(t, w.Call(t, "GET", harb+"/messages?about=1", ""), 400, "invalid_parameter", "about")
	for _, id := range []string{uuid.NewString(), "1"} {
		expect(t, w.Call(t, "GET", harb+"/messages/"+id, ""), 404, "not_found", "Message")
		expect(t, w.Call(t, "POST", harb+"/messages/"+id+"/retry", ""), 404, "not_found", "Message")
	}
	for _, call := range [][2]string{{"GET", ""}, {"GET", "/" + uuid.NewString()},
		{"POST", "/" + uuid.NewString() + "/retry"}} {
		expect(t, w.Call(t, call[0], "/admin/businesses/elsewhere/messages"+call[1], ""), 404, "business_not_found",
			"Business")
	}
}
