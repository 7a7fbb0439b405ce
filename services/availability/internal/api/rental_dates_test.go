package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// fakeRental is a fake of rental.
type fakeRental struct {
	body      string
	err       error
	query     url.Values
	isHanging bool // until its caller gives up
}

func (r *fakeRental) AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error) {
	if r.isHanging {
		if until, bounded := ctx.Deadline(); !bounded || time.Until(until) > time.Minute {
			return nil, errors.New("it is waited for as long as the request lasts")
		}
		<-ctx.Done()
		return nil,
			fault.Wrap(fault.PeerUnavailable, ctx.Err(), "The rental service does not answer; try again shortly.")
	}
	r.query = query
	if r.err == nil && slug != "harbor" {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return json.RawMessage(r.body), r.err
}

const rentalCalendarBody = `{"days": {"2027-03-01": {"11111111-1111-4111-8111-111111111111": 3}}, "computed": true, "timezone": "Europe/Lisbon"}`

func TestRentalDatesForwardAnswer(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) { n.rentals.body = rentalCalendarBody })
	got := s.get(t, "harbor/rental-available-dates", "start", monday, "end", "\xff\x00 &x=1", "rental_id", "a",
		"rental_id", "b", "more", "1")
	got.expect(t, 200, rentalCalendarBody)
	if c := got.header.Get("Cache-Control"); c != "no-store" {
		t.Errorf("Cache-Control is %q", c)
	}
	want := url.Values{"start": {monday}, "end": {"\xff\x00 &x=1"}, "rental_id": {"a", "b"}}
	if diff := cmp.Diff(want, s.rentals.query); diff != "" {
		t.Errorf("rental was asked (-want +got):\n%s", diff)
	}
	s.get(t, "elsewhere/rental-available-dates").expect(t, 404,
		`{"error": "Business not found", "messageCode": "business_not_found"}`)
}

func TestRentalDatesForwardFaults(t *testing.T) {
	t.Parallel()
	large := startService(t, func(n *fakePeers) {
		n.rentals.err = fault.New(fault.InvalidParameter, "Window too large (max 62 days).")
	})
	large.get(t, "harbor/rental-available-dates").expect(t, 400,
		`{"error": "Window too large (max 62 days).", "messageCode": "invalid_parameter"}`)
	none := startService(t, func(n *fakePeers) { n.rentals.err = fault.New(fault.RentalNotFound, "Rental not found") })
	none.get(t, "harbor/rental-available-dates").expect(t, 404,
		`{"error": "Rental not found", "messageCode": "rental_not_found"}`)
}

func TestRentalDatesAnswerUncomputedWithoutRental(t *testing.T) {
	t.Parallel()
	away := fault.Wrap(fault.PeerUnavailable, errors.New("refused"),
		"The rental service does not answer; try again shortly.")
	s := startService(t, func(n *fakePeers) { n.rentals.err = away })
	s.get(t, "harbor/rental-available-dates").expect(t, 200,
		`{"days": {}, "computed": false, "timezone": "Europe/Lisbon"}`)
	s.get(t, "elsewhere/rental-available-dates").expect(t, 404,
		`{"error": "Business not found", "messageCode": "business_not_found"}`)
	blind := startService(t, func(n *fakePeers) { n.rentals.err, n.offerErr = away, errors.New("catalog is away") })
	blind.get(t, "harbor/rental-available-dates").expect(t, 200, `{"days": {}, "computed": false, "timezone": ""}`)
}

func TestRentalDatesAllow20RequestsPerMinute(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) { n.rentals.body = rentalCalendarBody })
	for range 20 {
		s.get(t, "harbor/rental-available-dates").expect(t, 200, rentalCalendarBody)
	}
	if got := s.get(t, "harbor/rental-available-dates"); got.status != 429 || !strings.Contains(got.body,
		`"rate_limited"`) || got.header.Get("Retry-After") != "60" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
}
