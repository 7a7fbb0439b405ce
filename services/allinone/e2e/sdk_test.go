package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	slotmesh "github.com/slotmesh/slotmesh/services/catalog/sdk/go"
)

// TestSDKsReadBookAndVerifyWebhooks shows that each SDK can read a business, book once, report a refusal, and verify
// the webhook of its booking.
func TestSDKsReadBookAndVerifyWebhooks(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	const slug = "harbor-sdk"
	publishHarbor(t, w, slug)
	url, deliveries := startReceiver(t)
	var hook struct{ Secret string }
	w.callAdmin(t, http.MethodPost, "businesses/"+slug+"/webhooks",
		fmt.Appendf(nil, `{"url": %q, "events": ["booking.created"]}`, url)).
		decode(t, http.StatusCreated, &hook)
	key := w.createKey(t, slug, "write")
	booking := w.bookByGoSDK(t, slug, key)
	if event := checkGoSDKWebhook(t, hook.Secret, nextDelivery(t, deliveries)); event.ID != booking.ID ||
		event.Status != slotmesh.BookingStatusPending || event.Sequence != 1 ||
		event.CustomerEmail != "ada@example.com" || event.Total != booking.Total {
		t.Errorf("the webhook says %+v of %+v", event, booking)
	}
	node := testkit.InstallNode(t, typescriptTools...)
	program := buildTypeScriptProgram(t, w, node)
	id := w.bookByTypeScriptSDK(t, node, program, slug, key)
	checkTypeScriptSDKWebhook(t, node, program, hook.Secret, id, nextDelivery(t, deliveries))
	python := testkit.InstallPython(t, pythonSDKTools...)
	program = buildPythonProgram(t, python)
	id = w.bookByPythonSDK(t, python, program, slug, key)
	checkPythonSDKWebhook(t, python, program, hook.Secret, id, nextDelivery(t, deliveries))
	if n := w.countBookings(t, slug); n != 3 {
		t.Errorf("there are %d bookings", n)
	}
}

// bookByGoSDK reads the business and books. The same order with the same key returns the same booking. Without a key,
// the same order is refused.
func (w *platform) bookByGoSDK(t *testing.T, slug, key string) slotmesh.Booking {
	t.Helper()
	ctx := t.Context()
	c, err := slotmesh.New(w.PublicURL, slug, slotmesh.WithKey(key), slotmesh.WithHTTPClient(w.http))
	if err != nil {
		t.Fatal(err)
	}
	info, err1 := c.GetInfo(ctx)
	offered, err2 := c.ListServices(ctx, slotmesh.ListServicesParams{Locale: "pt"})
	staff, err3 := c.ListStaff(ctx, slotmesh.ListStaffParams{})
	events, err4 := c.ListEvents(ctx, slotmesh.ListEventsParams{})
	rentals, err5 := c.ListRentals(ctx, slotmesh.ListRentalsParams{})
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	cut := offered.Services[0]
	if info.Name != "Harbor Studio" || cut.Name != "Corte" || cut.QuotedPrice == nil || len(staff.Staff) == 0 ||
		events.Currency != "EUR" {
		t.Errorf("read %+v, %+v", info, cut)
	}
	const day = "2027-03-01"
	services, boat := slotmesh.List{cut.ID}, rentals.Rentals[0].ID
	free, err1 := c.ListSlots(ctx, slotmesh.ListSlotsParams{Date: day, ServiceID: services})
	dates, err2 := c.ListAvailableDates(ctx,
		slotmesh.ListAvailableDatesParams{Start: day, End: day, ServiceID: services})
	units, err3 := c.ListRentalDates(ctx,
		slotmesh.ListRentalDatesParams{Start: day, End: day, RentalID: slotmesh.List{boat}})
	rental, err4 := c.CheckRental(ctx, slotmesh.CheckRentalParams{RentalID: boat, StartDate: day, EndDate: day})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if dates.Days[day] != len(free.Slots) || len(free.Slots) == 0 || rental.Available != (units.Days[day][boat] > 0) {
		t.Fatalf("%d slots, %v, %v, %+v", len(free.Slots), dates.Days, units.Days, rental)
	}
	slot := free.Slots[0]
	order := slotmesh.BookingRequest{
		ServiceIDs: services, Date: slot.Date, Time: slot.Time, StaffID: slot.StaffID,
		CustomerName: "Ada Example", CustomerEmail: "ada@example.com",
	}
	confirmation, err := c.Book(ctx, "order-1", order)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Book(ctx, "order-1", order)
	if err != nil || confirmation.Replayed || !again.Replayed || again.Booking.ID != confirmation.Booking.ID ||
		confirmation.Booking.StaffID != slot.StaffID {
		t.Errorf("made %+v, again %+v, %v", confirmation, again, err)
	}
	var told *slotmesh.Error
	if _, err := c.Book(ctx, "", order); !errors.Is(err, slotmesh.CodeSlotUnavailable) || !errors.As(err, &told) ||
		told.Status != http.StatusConflict || told.Trace == "" {
		t.Errorf("the same time again: %v", err)
	}
	return confirmation.Booking
}

// checkGoSDKWebhook reads a webhook as a receiver does, and checks that a changed webhook is rejected.
func checkGoSDKWebhook(t *testing.T, secret string, d delivery) slotmesh.WebhookBooking {
	t.Helper()
	body, err := base64.StdEncoding.DecodeString(d.Body)
	if err != nil {
		t.Fatal(err)
	}
	sent := func(body string) (*slotmesh.WebhookEvent, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/hooks",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range d.Headers {
			request.Header.Set(name, value)
		}
		return slotmesh.ReadWebhook(secret, request, sentTime(t, d))
	}
	if _, err := sent(string(body) + " "); !errors.Is(err, slotmesh.ErrWebhookSignature) {
		t.Errorf("a changed webhook: %v", err)
	}
	event, err := sent(string(body))
	if err != nil {
		t.Fatal(err)
	}
	var booking slotmesh.WebhookBooking
	if err := json.Unmarshal(event.Data, &booking); err != nil || event.Type != "booking.created" ||
		event.ID != d.Headers["webhook-id"] {
		t.Errorf("%+v: %v", event, err)
	}
	return booking
}

// sentTime returns the time at which a webhook was sent by the services' clock, which differs from the machine's clock.
func sentTime(t *testing.T, d delivery) time.Time {
	t.Helper()
	var seconds int64
	if _, err := fmt.Sscan(d.Headers["webhook-timestamp"], &seconds); err != nil {
		t.Fatal(err)
	}
	return time.Unix(seconds, 0)
}
