package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestCalendarAddressIsShownOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	staff := uuid.NewString()
	got := w.Call(t, "POST", harb+"/calendars", `{"staff_id":"`+staff+`","shows":"names"}`)
	if got.Status != 201 || got.Header.Get("Cache-Control") != "no-store" || field(t, got, "staff_id") != staff ||
		field(t, got, "shows") != "names" ||
		field(t, got, "token") != consoletest.CalendarToken || !strings.HasSuffix(field(t, got, "url").(string),
		consoletest.CalendarToken+".ics") {
		t.Fatalf("%d %v %s", got.Status, got.Header, got.Body)
	}
	id := field(t, got, "id").(string)
	if got := w.Call(t, "DELETE", harb+"/calendars/"+id, ""); got.Status != 204 || got.Body != "" {
		t.Errorf("revoke: %d %s", got.Status, got.Body)
	}
	list := w.Call(t, "GET", harb+"/calendars", "")
	if strings.Contains(list.Body+w.Log.String(), consoletest.CalendarToken) {
		t.Errorf("the token is shown again: %s\n%s", list.Body, w.Log)
	}
	if c := field(t, list, "calendars").([]any)[0].(map[string]any); c["id"] != id || c["revoked_at"] == nil {
		t.Errorf("listed: %v", c)
	}
	for _, change := range []string{"create calendar", "revoke calendar"} {
		if !strings.Contains(w.Log.String(), change) {
			t.Errorf("%s is not logged", change)
		}
	}
	expect(t, w.Call(t, "DELETE", harb+"/calendars/"+uuid.NewString(), ""), 404, "not_found", "alendar")
	expect(t, w.Call(t, "DELETE", harb+"/calendars/1", ""), 404, "not_found", "Calendar")
	for body, sentence := range map[string]string{
		`{"shows":"all"}`: "shows", `{"shows":"times","staff_id":"anna"}`: "staff_id",
		`{"shows":"times","name":"x"}`: "name",
	} {
		expect(t, w.Call(t, "POST", harb+"/calendars", body), 400, "invalid_parameter", sentence)
	}
	for _, call := range [][3]string{{"GET", ""}, {"POST", "", `{"shows":"times"}`}, {"DELETE", "/" + id}} {
		expect(t, w.Call(t, call[0], "/admin/businesses/nobody/calendars"+call[1], call[2]), 404, "business_not_found",
			"Business not found")
	}
}
