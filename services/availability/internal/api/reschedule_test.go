package api

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// TestInternalSlotsListRescheduleTargets names a booking whose own time counts as free (lifecycle.md §3). Only requests
// on the internal port may do that.
func TestInternalSlotsListRescheduleTargets(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(anna, 0, "2027-03-01T10:00", "2027-03-01T11:00")}
		n.seats = []booking.SeatsTaken{{SessionID: evening, StartsAt: parseInstant("2027-03-03T18:00"), Taken: 8}}
	})
	booked := uuid.New()
	ask := func(base, date string, query url.Values) string {
		query.Set("date", date)
		answer, err := http.Get(base + "/api/public/harbor/slots?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%d %s %v", answer.StatusCode, body, err)
		}
		return string(body)
	}
	moving := func() url.Values { return url.Values{"service_id": {colour.String()}, "moving": {booked.String()}} }
	const taken = `"time":"10:00"`
	if got := ask(s.internal+"/internal", monday, moving()); !strings.Contains(got, taken) ||
		s.requestedMoving == nil ||
		*s.requestedMoving != booked {
		t.Errorf("the present time of the booking counts as occupied: %s", got)
	}
	if got := ask(s.internal+"/internal", monday, url.Values{"service_id": {colour.String()}}); strings.Contains(got,
		taken) {
		t.Errorf("taken time is free: %s", got)
	}
	if got := ask(s.public, monday, moving()); strings.Contains(got, taken) {
		t.Errorf("the public port allows it: %s", got)
	}
	for party, fits := range map[string]bool{"2": true, "3": false} {
		got := ask(s.internal+"/internal", "2027-03-03",
			url.Values{"service_id": {yoga.String()}, "party_size": {party}})
		if strings.Contains(got, evening.String()) != fits {
			t.Errorf("a party of %s where two seats are left: %s", party, got)
		}
	}
}
