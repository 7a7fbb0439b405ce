package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const newBooking = `{"service_ids":["11111111-1111-4111-8111-111111111111"],"date":"2026-12-01","time":"09:37","customer_name":"Ada","customer_email":"ada@example.com","override":true`

func TestAdminAPIBooksAndReschedules(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	booked := w.Call(t, "POST", harb+"/bookings", newBooking+`}`)
	if booked.Status != 201 || field(t, booked, "source") != "dashboard" ||
		field(t, booked, "start_time") != "09:37:00" {
		t.Fatalf("%d %s", booked.Status, booked.Body)
	}
	at := harb + "/bookings/" + field(t, booked, "id").(string) + "/reschedule"
	moved := w.Call(t, "POST", at, `{"date":"2026-12-02","time":"10:15"}`)
	if moved.Status != 200 || field(t, moved, "date") != "2026-12-02" || field(t, moved, "start_time") != "10:15:00" ||
		field(t, moved, "id") != field(t, booked, "id") {
		t.Errorf("%d %s", moved.Status, moved.Body)
	}
	taken := `{"date":"2026-12-02","time":"` + consoletest.RefusedTime + `"}`
	expect(t, w.Call(t, "POST", at, taken), 409, "slot_unavailable", "booked")
	expect(t, w.Call(t, "POST", harb+"/bookings/"+uuid.NewString()+"/reschedule", taken), 404, "not_found", "Booking")
	expect(t, w.Call(t, "POST", harb+"/bookings/1/reschedule", taken), 404, "not_found", "Booking")
	for body, names := range map[string]string{
		`{"date":"2026-12-02","time":"10:15","source":"page"}`: "source", `{"date":7}`: "date", `[]`: "object",
		``: "body",
	} {
		expect(t, w.Call(t, "POST", at, body), 400, "invalid_parameter", names)
	}
	expect(t, w.Call(t, "POST", harb+"/bookings", newBooking+`,"source":"page"}`), 400, "invalid_parameter", "source")
	for _, call := range [][2]string{{"/bookings", newBooking + `}`}, {"/bookings/" + uuid.NewString() + "/reschedule",
		taken}} {
		expect(t, w.Call(t, "POST", "/admin/businesses/nobody"+call[0], call[1]), 404, "business_not_found",
			"Business not found")
	}
	if got := w.Call(t, "POST", at[:len(at)-len("reschedule")]+"cancel", ""); got.Status != 200 {
		t.Errorf("cancel: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "POST", at, `{"date":"2026-12-02","time":"10:15"}`), 409, "conflict", "cancelled")
}

// TestConfirmAndDragOfferNotification shows that the box "notify" decides whether the customer gets a
// message about a confirmation or a drag. After a drag without message, undo has no box.
func TestConfirmAndDragOfferNotification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		box    url.Values
		silent bool
	}{
		{url.Values{"notifies": {"yes"}, "notify": {"yes"}}, false}, {url.Values{"notifies": {"yes"}}, true},
	} {
		w := consoletest.Start(t)
		business := publish(t, w)
		session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: business, Role: access.Owner})
		b := someBooking(booking.StatusPending, "2026-12-01")
		w.Booking.Add(business, b)
		expect := func(done string) {
			t.Helper()
			if got := w.Booking.TakeSilent(); slices.Contains(got, done) != c.silent {
				t.Errorf("%v: done silently are %v", c.box, got)
			}
		}
		send := func(label string, form url.Values) consoletest.Answer {
			t.Helper()
			for name, value := range c.box {
				form[name] = value
			}
			got := postForm(t, w, "/business/harbor/bookings/"+b.ID.String()+"/"+label, session, form)
			if got.Status != 303 || strings.Contains(got.Header.Get("Location"), "wrong=") {
				t.Fatalf("%s: %d to %q: %s", label, got.Status, got.Header.Get("Location"), got.Body)
			}
			return got
		}
		send("confirm", url.Values{})
		expect("confirm")
		dropped := send("drop", url.Values{"back": {"calendar"}, "seen": {"2026-12-01 10:00:00 "},
			"date": {"2026-12-02"}, "time": {"11:00"}})
		expect("reschedule")
		to, err := url.Parse(dropped.Header.Get("Location"))
		if err != nil || to.Query().Has("silent") != c.silent {
			t.Errorf("%v: it leads to %v, %v", c.box, to, err)
		}
		page := getPage(t, w, to.String(), session)
		if undo := strings.Index(page.Body, `name="undone"`); undo < 0 || strings.Contains(page.Body[undo:undo+200],
			`name="notifies"`) != c.silent {
			t.Errorf("%v: undoing asks: %s", c.box, page.Body)
		}
	}
}
