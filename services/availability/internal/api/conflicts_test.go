package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (s service) postConflicts(t *testing.T, req availability.ConflictsRequest) reply {
	t.Helper()
	body, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.internal+"/internal/outside", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return readReply(t, answer)
}

// newHeld returns a booking of one service by Ben.
func newHeld(t *testing.T, service uuid.UUID, local string, zone *catalog.Snapshot) availability.FutureBooking {
	t.Helper()
	at, err := timespan.ParseLocalDateTime(local)
	if err != nil {
		t.Fatal(err)
	}
	return availability.FutureBooking{
		StartsAt: timespan.Instant(at.Date, at.Time, zone.Location()), StaffID: &ben, StaffName: "Ben",
		Services: []availability.FutureService{{ID: service, Name: "Haircut", DurationMinutes: 45}},
	}
}

func TestConflictsReportReasonAndEarlierConflict(t *testing.T) {
	t.Parallel()
	var offer *catalog.Snapshot
	s := startService(t, func(n *fakePeers) { offer = n.offer })
	wanted := *offer
	closed := parseDate(t, "2027-03-02")
	wanted.Overrides = append(wanted.Overrides[:len(wanted.Overrides):len(wanted.Overrides)],
		catalog.DayOverride{Date: closed})
	gone := newHeld(t, uuid.New(), "2027-03-03T10:00", offer)
	held := []availability.FutureBooking{newHeld(t, haircut, "2027-03-03T10:00", offer),
		newHeld(t, haircut, "2027-03-02T10:00", offer),
		gone}
	s.postConflicts(t, availability.ConflictsRequest{Slug: "harbor", OfferVersion: 3, Offer: wanted,
		Bookings: held}).expect(t, 200,
		`{"outside": [
		{"index": 1, "already": false, "reason": {"rule": "override", "whose": "business", "date": "2027-03-02",
			"message": "An override of the business's hours on 2027-03-02 leaves this time out."}},
		{"index": 2, "already": true, "reason": {"rule": "removed", "name": "Haircut", "message": "Haircut is no longer in the offer."}}]}`)

	wanted.Staff = nil
	if reply := s.postConflicts(t, availability.ConflictsRequest{Slug: "harbor", OfferVersion: 3, Offer: wanted,
		Bookings: held[:1]}); !strings.Contains(reply.body, "Ben is no longer in the offer.") {
		t.Errorf("the reason for a removed staff member: %s", reply.body)
	}
	held[0].Services = nil
	if reply := s.postConflicts(t, availability.ConflictsRequest{Slug: "harbor", OfferVersion: 3, Offer: wanted,
		Bookings: held[:1]}); reply.status != http.StatusBadRequest {
		t.Errorf("a booking without services: %d %s", reply.status, reply.body)
	}
}
