package api

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// randomBusiness changes the business at random: hours over midnight, a zone with a clock change in the requested week,
// members with their own hours, buffers, sessions and bookings.
func randomBusiness(r *rand.Rand) func(*fakePeers) {
	return func(n *fakePeers) {
		o := n.offer
		o.Timezone = []string{"Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}[r.IntN(4)]
		o.Bookings = catalog.Bookings{SlotIntervalMinutes: 30, AdvanceDays: 10 + r.IntN(40),
			MinNoticeMinutes: r.IntN(3000)}
		o.Hours = randomWeek(r)
		if r.IntN(2) == 0 {
			week := randomWeek(r)
			o.Staff[1].Hours = &week
		}
		for i := range o.Services {
			s := &o.Services[i]
			s.DurationMinutes, s.SlotIntervalMinutes = 10+5*r.IntN(30), 30*(1+r.IntN(3))
			s.BufferBeforeMinutes, s.BufferAfterMinutes = 5*r.IntN(4), 5*r.IntN(4)
		}
		o.Services[3].Classes = randomSessions(r)
		for range 2 {
			d := firstOfWeek + timespan.Date(r.IntN(7))
			o.Overrides = append(o.Overrides, catalog.DayOverride{Date: d})
			o.Blocks = append(o.Blocks, catalog.Block{
				From: timespan.LocalDateTime{Date: d, Time: 600}, To: timespan.LocalDateTime{Date: d + 1, Time: 660},
				StaffIDs: []uuid.UUID{anna},
			})
		}
		if err := o.Prepare(); err != nil {
			panic(err)
		}
		n.busy, n.seats = randomBookings(r, o)
	}
}

// firstOfWeek is the first date of the requested week. New York's clock changes on it.
var firstOfWeek = timespan.NewDate(2027, time.March, 14)

func randomWeek(r *rand.Rand) catalog.WeekHours {
	var week catalog.WeekHours
	for d := range week {
		from := timespan.TimeOfDay(30 * r.IntN(44))
		week[d] = []timespan.Window{{From: from, To: from + timespan.TimeOfDay(60+30*r.IntN(20))}}
	}
	return week
}

func randomSessions(r *rand.Rand) []catalog.ClassSession {
	var sessions []catalog.ClassSession
	for i := range 6 {
		weekday := time.Weekday(r.IntN(7))
		c := catalog.ClassSession{ID: uuid.UUID{7, byte(i)}, Key: fmt.Sprint(i), Weekday: &weekday,
			Time: timespan.TimeOfDay(60 * r.IntN(24)), Capacity: 1 + r.IntN(3)}
		if r.IntN(3) > 0 {
			c.StaffID = []*uuid.UUID{&anna, &ben}[r.IntN(2)]
		}
		sessions = append(sessions, c)
	}
	return sessions
}

// randomBookings draws occupied time of each member and capacity unit, and booked seats of each session.
func randomBookings(r *rand.Rand, o *catalog.Snapshot) ([]booking.Busy, []booking.SeatsTaken) {
	var busy []booking.Busy
	for _, resource := range []booking.Resource{{ID: anna}, {ID: ben}, {ID: sauna, CapacityUnit: 1},
		{ID: sauna, CapacityUnit: 2}} {
		b := booking.Busy{Resource: resource}
		for at := int64(firstOfWeek-1) * 86400; at < int64(firstOfWeek+8)*86400; {
			at += int64(r.IntN(600)) * 60
			b.Add(timespan.Span{Start: at, End: at + 3600})
			at += 3600
		}
		busy = append(busy, b)
	}
	var seats []booking.SeatsTaken
	for _, c := range o.Services[3].Classes {
		for d := firstOfWeek; d < firstOfWeek+7; d++ {
			seats = append(seats, booking.SeatsTaken{SessionID: c.ID,
				StartsAt: timespan.Instant(d, c.Time, o.Location()), Taken: r.IntN(c.Capacity + 1)})
		}
	}
	return busy, seats
}

// listParameterCombinations returns all combinations of the parameters of both calendars, without variants of services
// that are not requested.
func listParameterCombinations() []url.Values {
	ids := func(list ...uuid.UUID) string {
		var all []string
		for _, id := range list {
			all = append(all, id.String())
		}
		return strings.Join(all, ",")
	}
	parameters := []struct {
		name   string
		values []string
	}{
		{"service_id", []string{ids(haircut), ids(sauna), ids(yoga), ids(haircut, colour),
			ids(sauna, haircut, haircut)}},
		{"staff_id", []string{"", ids(anna), ids(ben), ids(haircut)}},
		{"is_package", []string{"", "true", "1"}},
		{"staffing_mode", []string{"", "per_service", "any"}},
		{"variants", []string{"", ids(haircut) + ":" + ids(long)}},
	}
	all := []url.Values{{}}
	for _, p := range parameters {
		var more []url.Values
		for _, previous := range all {
			for _, v := range p.values {
				query := url.Values{}
				for name, values := range previous {
					query[name] = values
				}
				if v != "" {
					query.Set(p.name, v)
				}
				more = append(more, query)
			}
		}
		all = more
	}
	return slices.DeleteFunc(all, func(q url.Values) bool {
		return q.Has("variants") && !strings.Contains(q.Get("service_id"), haircut.String())
	})
}

// TestCalendarsAgreeForAllParameterCombinations compares the numbers of /available-dates with the lengths of the lists
// of /slots, for random businesses.
func TestCalendarsAgreeForAllParameterCombinations(t *testing.T) {
	t.Parallel()
	listed := map[string]int{} // by service_id
	for seed := range uint64(6) {
		s := startService(t, randomBusiness(rand.New(rand.NewPCG(seed, 2))))
		for address, query := range listParameterCombinations() {
			dates := url.Values{"start": {firstOfWeek.String()}, "end": {(firstOfWeek + 6).String()}}
			days := s.getDays(t, address, dates.Encode()+"&"+query.Encode())
			if len(days) != 7 {
				t.Fatalf("seed %d, %s: %d days, want 7", seed, query.Encode(), len(days))
			}
			for day, number := range days {
				n := s.countSlots(t, address, "date="+day+"&"+query.Encode())
				if listed[query.Get("service_id")] += n; n != number {
					t.Errorf("seed %d, %s: /slots lists %d on %s, /available-dates says %d", seed, query.Encode(), n,
						day, number)
				}
			}
		}
	}
	for services, n := range listed {
		if n == 0 {
			t.Errorf("nothing is listed of %s, so the comparison proves nothing", services)
		}
	}
}
