package console_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const newBooking = `{"service_ids":["11111111-1111-4111-8111-111111111111"],"date":"2026-12-01","time":"09:37","customer_name":"Ada","customer_email":"ada@example.com","override":true`

func TestAnOwnerBooksAndMovesByTheAdminAPI(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	booked := w.Call(t, "POST", harb+"/bookings", newBooking+`}`)
	if booked.Status != 201 || field(t, booked, "source") != "dashboard" || field(t, booked, "start_time") != "09:37:00" {
		t.Fatalf("%d %s", booked.Status, booked.Body)
	}
	at := harb + "/bookings/" + field(t, booked, "id").(string) + "/reschedule"
	moved := w.Call(t, "POST", at, `{"date":"2026-12-02","time":"10:15"}`)
	if moved.Status != 200 || field(t, moved, "date") != "2026-12-02" || field(t, moved, "start_time") != "10:15:00" || field(t, moved, "id") != field(t, booked, "id") {
		t.Errorf("%d %s", moved.Status, moved.Body)
	}
	taken := `{"date":"2026-12-02","time":"` + consoletest.Taken + `"}`
	expect(t, w.Call(t, "POST", at, taken), 409, "slot_unavailable", "booked")
	expect(t, w.Call(t, "POST", harb+"/bookings/"+uuid.NewString()+"/reschedule", taken), 404, "not_found", "Booking")
	expect(t, w.Call(t, "POST", harb+"/bookings/1/reschedule", taken), 404, "not_found", "Booking")
	for body, names := range map[string]string{
		`{"date":"2026-12-02","time":"10:15","source":"page"}`: "source", `{"date":7}`: "date", `[]`: "object", ``: "body",
	} {
		expect(t, w.Call(t, "POST", at, body), 400, "invalid_parameter", names)
	}
	expect(t, w.Call(t, "POST", harb+"/bookings", newBooking+`,"source":"page"}`), 400, "invalid_parameter", "source")
	for _, call := range [][2]string{{"/bookings", newBooking + `}`}, {"/bookings/" + uuid.NewString() + "/reschedule", taken}} {
		expect(t, w.Call(t, "POST", "/admin/businesses/nobody"+call[0], call[1]), 404, "business_not_found", "Business not found")
	}
	if got := w.Call(t, "POST", at[:len(at)-len("reschedule")]+"cancel", ""); got.Status != 200 {
		t.Errorf("cancel: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "POST", at, `{"date":"2026-12-02","time":"10:15"}`), 409, "conflict", "cancelled")
}
