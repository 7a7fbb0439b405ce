package e2e

import (
	"context"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/oapi-codegen/runtime/types"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/publicapi"
)

// TestAClientMadeFromTheDocumentReadsEverythingAndBooks uses what oapi-codegen makes of the document and nothing else.
func TestAClientMadeFromTheDocumentReadsEverythingAndBooks(t *testing.T) {
	t.Parallel()
	w := start(t, connected(noStripe))
	harbor(t, w)
	const slug = "harbor-studio"
	key, ctx := w.key(t, slug, "write"), t.Context()
	asked := make(map[string]bool)
	w.http.Transport = noting{asked, w.http.Transport}
	c, err := publicapi.NewClientWithResponses(w.PublicURL, publicapi.WithHTTPClient(w.http),
		publicapi.WithRequestEditorFn(
			func(_ context.Context, r *http.Request) error {
				r.Header.Set("X-Forwarded-For", client())
				return nil
			}))
	if err != nil {
		t.Fatal(err)
	}
	day := types.Date{Time: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)}

	services, err := c.ListServicesWithResponse(ctx, slug, nil)
	read(t, services, err, http.StatusOK)
	staff, err := c.ListStaffWithResponse(ctx, slug, nil)
	read(t, staff, err, http.StatusOK)
	rentals, err := c.ListRentalsWithResponse(ctx, slug, nil)
	read(t, rentals, err, http.StatusOK)
	cut, kayak := services.JSON200.Services[0].Id, rentals.JSON200.Rentals[0].Id

	info, err := c.GetInfoWithResponse(ctx, slug, nil)
	read(t, info, err, http.StatusOK)
	events, err := c.ListEventsWithResponse(ctx, slug, nil)
	read(t, events, err, http.StatusOK)
	dates, err := c.ListAvailableDatesWithResponse(ctx, slug, &publicapi.ListAvailableDatesParams{Start: day, End: day,
		ServiceId: cut.String()})
	read(t, dates, err, http.StatusOK)
	rental, err := c.CheckRentalWithResponse(ctx, slug, &publicapi.CheckRentalParams{RentalId: kayak, StartDate: day,
		EndDate: day})
	read(t, rental, err, http.StatusOK)
	units, err := c.ListRentalDatesWithResponse(ctx, slug, &publicapi.ListRentalDatesParams{Start: day, End: day,
		RentalId: kayak.String()})
	read(t, units, err, http.StatusOK)
	slots, err := c.ListSlotsWithResponse(ctx, slug, &publicapi.ListSlotsParams{Date: day, ServiceId: cut.String()})
	read(t, slots, err, http.StatusOK)
	document, err := c.GetOpenAPIWithResponse(ctx, nil)
	read(t, document, err, http.StatusOK)
	if n := dates.JSON200.Days["2027-03-01"]; n == 0 || n != len(slots.JSON200.Slots) {
		t.Fatalf("the calendars say %d and %d starts", n, len(slots.JSON200.Slots))
	}
	if !rental.JSON200.Available || units.JSON200.Days["2027-03-01"][kayak.String()] == 0 {
		t.Errorf("a kayak is free, yet %s and %s", rental.Body, units.Body)
	}

	bookTwice(t, c, slug, cut, slots.JSON200.Slots[0], func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	})
	event := succeeded("paid", "pi_unknown")
	noticed, err := c.TakeStripeEventWithBodyWithResponse(ctx,
		&publicapi.TakeStripeEventParams{StripeSignature: signed(event)}, "application/json", strings.NewReader(event))
	read(t, noticed, err, http.StatusOK)
	expectAllAsked(t, w, asked)
}

// expectAllAsked expects that each path of the document was asked, by the last part of its name.
func expectAllAsked(t *testing.T, w *world, asked map[string]bool) {
	t.Helper()
	for described := range describe(t, w.PublicURL+"/api/public/openapi.json", nil).Paths.Map() {
		if !asked[path.Base(described)] {
			t.Errorf("%s is described and not asked here", described)
		}
	}
}

// bookTwice books a slot, which is taken then.
func bookTwice(t *testing.T, c *publicapi.ClientWithResponses, slug string, service publicapi.Id, first publicapi.Slot,
	withKey publicapi.RequestEditorFn) {
	t.Helper()
	order := publicapi.BookingRequest{
		ServiceIds: []publicapi.Id{service}, Date: first.Date, Time: first.Time, StaffId: first.StaffId,
		CustomerName: "Ada Example", CustomerEmail: "ada@example.com",
	}
	booked, err := c.BookWithResponse(t.Context(), slug, nil, order, withKey)
	read(t, booked, err, http.StatusCreated)
	if b := booked.JSON201.Booking; b.StartTime != first.Time+":00" || b.Status != publicapi.Pending ||
		b.StaffId == nil || *b.StaffId != *first.StaffId {
		t.Errorf("asked for %+v, booked %s", first, booked.Body)
	}
	again, err := c.BookWithResponse(t.Context(), slug, nil, order, withKey)
	read(t, again, err, http.StatusConflict)
	if again.JSON409.MessageCode != "slot_unavailable" {
		t.Errorf("got %s", again.Body)
	}
}

// noting remembers the last segments of the paths that are asked, one at a time.
type noting struct {
	asked map[string]bool
	next  http.RoundTripper
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	n.asked[path.Base(r.URL.Path)] = true
	return n.next.RoundTrip(r)
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the connections.
func (n noting) CloseIdleConnections() {
	if closer, ok := n.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

func read(t *testing.T, answer interface{ StatusCode() int }, err error, status int) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode() != status {
		t.Fatalf("got status %d, want %d", answer.StatusCode(), status)
	}
}
