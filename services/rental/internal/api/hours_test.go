package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// setWeekdayHours sets the opening hours: weekdays from 09:00 to 18:00, and Friday night from 22:00 to 02:00.
func setWeekdayHours(o *catalog.Snapshot) {
	for d := time.Monday; d <= time.Friday; d++ {
		o.Hours[d] = []timespan.Window{{From: 9 * 60, To: 18 * 60}}
	}
	o.Hours[time.Friday] = append(o.Hours[time.Friday], timespan.Window{From: 22 * 60, To: 26 * 60})
}

// TestAvailabilityRequiresOpeningHours checks pick-ups and returns around the opening hours of Friday, 11 June
// 2027.
func TestAvailabilityRequiresOpeningHours(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(setWeekdayHours)
	for _, c := range []struct {
		id, from, to, start, end string
		want                     bool
	}{
		{kayak, "2027-06-11", "2027-06-11", "09:00", "18:00", true},
		{kayak, "2027-06-11", "2027-06-11", "08:30", "10:00", false},
		{kayak, "2027-06-11", "2027-06-11", "17:00", "18:30", false},
		{kayak, "2027-06-11", "2027-06-11", "18:00", "23:00", false}, // no pick-up at closing time
		{kayak, "2027-06-11", "2027-06-12", "17:00", "02:00", true},  // a return at closing time is possible
		{kayak, "2027-06-11", "2027-06-12", "17:00", "02:30", false},
		{kayak, "2027-06-11", "2027-06-14", "17:00", "09:00", true}, // closed at the weekend in between
		{bike, "2027-06-11", "2027-06-14", "", "", true},
		{bike, "2027-06-11", "2027-06-12", "", "", false},
		{bike, "2027-06-12", "2027-06-14", "", "", false},
	} {
		query := []string{"startDate", c.from, "endDate", c.to}
		if c.start != "" {
			query = append(query, "startTime", c.start, "endTime", c.end)
		}
		if got := s.parseAnswer(t, query, c.id); got != c.want {
			t.Errorf("%+v: available %t", c, got)
		}
	}
	const closed = `{"available":false,"conflictReason":"Pick-up or return is outside opening hours.","messageCode":"closed"}`
	s.check(t, "rentalId", bike, "startDate", "2027-06-12", "endDate", "2027-06-12", "lang", "en").expect(t, 200,
		closed)
	s.edit(func(o *catalog.Snapshot) {
		for i := range o.Rentals {
			o.Rentals[i].OutsideHours = true
		}
	})
	if !s.parseAnswer(t, []string{"startDate", "2027-06-12", "endDate", "2027-06-12"}, bike) {
		t.Error("a rental that is handed over outside hours is not available on a closed day")
	}
}

// TestStartsAreWithinOpeningHours shows that each listed start can be reserved, by the hour and by the day.
func TestStartsAreWithinOpeningHours(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(setWeekdayHours)
	friday := timespan.NewDate(2027, time.June, 11)
	for _, start := range s.starts(t, kayak, friday.String(), 1) {
		for hours := start.Shortest; hours <= start.Longest; hours++ {
			until, ends, _ := timespan.EndAfter(timespan.Instant(friday, *start.Time, s.offer.Location()),
				int64(hours)*3600, s.offer.Location())
			query := []string{"startDate", friday.String(), "endDate", until.String(), "startTime", start.Time.String(),
				"endTime", ends.String()}
			if !s.parseAnswer(t, query, kayak) {
				t.Errorf("%s for %d hours is listed and refused", start.Time, hours)
			}
		}
	}
	if got := s.starts(t, kayak, (friday + 1).String(), 1); len(got) == 0 || *got[0].Time != 0 {
		t.Errorf("on Saturday, in the last hours of Friday's night: %+v", got)
	}
	if got := s.starts(t, kayak, (friday + 2).String(), 1); len(got) != 0 {
		t.Errorf("on Sunday: %+v", got)
	}
	if got := s.starts(t, bike, friday.String(), 1); len(got) < 2 ||
		got[0] != (rental.Start{Shortest: 1, Longest: 1}) || got[1].Shortest != 4 {
		t.Errorf("by the day from Friday on: %+v", got)
	}
	answer := s.days(t, "rental_id", bike, "start", friday.String(), "end", (friday + 3).String())
	answer.expect(t, 200, `{"days":{"2027-06-11":{"`+bike+`":10},"2027-06-12":{"`+bike+`":0},"2027-06-13":{"`+bike+
		`":0},"2027-06-14":{"`+bike+`":10}},`+
		`"computed":true,"timezone":"Europe/Lisbon"}`)
}

func TestOwnerReservationOutsideOpeningHoursWarns(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(setWeekdayHours)
	req := newRequest(bike, 1, "2027-06-12", "2027-06-12")
	once := idempotency.With(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), idempotency.Request{Key: "once"})
	reservation, err := s.client.Reserve(once, "harbor", req)
	if err != nil || len(reservation.Warnings) != 1 || reservation.Warnings[0].Code != fault.Closed.Code {
		t.Errorf("got %+v, %v", reservation, err)
	}
	s.edit(func(o *catalog.Snapshot) { o.Hours[time.Saturday] = o.Hours[time.Monday] })
	second, err := s.client.Reserve(once, "harbor", req)
	if diff := cmp.Diff(reservation, second); diff != "" || err != nil {
		t.Errorf("repeated under other opening hours: %v %s", err, diff)
	}
	s.edit(func(o *catalog.Snapshot) { o.Hours[time.Saturday] = nil })
	if reservation, err = s.client.Reserve(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), "harbor",
		newRequest(bike, 1, "2027-06-11", "2027-06-11")); err != nil || reservation.Warnings != nil {
		t.Errorf("within opening hours: %+v, %v", reservation, err)
	}
	address := "zoe@example.com"
	req.CustomerEmail = &address
	if _, err := s.reserveAs(actor.Page, uuid.NewString(), req); !fault.Is(err, fault.Conflict) {
		t.Errorf("a customer: %v", err)
	}
}
