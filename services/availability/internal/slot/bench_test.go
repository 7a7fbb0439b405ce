package slot

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// BenchmarkScenario answers testdata/scenario.json whole: found and listed, beside the plain sweep.
func BenchmarkScenario(b *testing.B) {
	s := loadScenario(b)
	for _, members := range []int{1, 20} {
		offer, q, occupied := s.ask(b, members)
		b.Run(fmt.Sprintf("members=%d/count", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				count(Find(offer, q, booking.Occupied{Busy: occupied}), q)
			}
		})
		b.Run(fmt.Sprintf("members=%d/list", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				list(Find(offer, q, booking.Occupied{Busy: occupied}), q)
			}
		})
		b.Run(fmt.Sprintf("members=%d/plain-sweep", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.plainSweep(members)
			}
		})
	}
}

func count(o *Openings, q Question) int {
	total := 0
	o.Days(q.From, q.To, func(_ timespan.Date, n int) { total += n })
	return total
}

func list(o *Openings, q Question) int {
	total := 0
	for d := q.From; d <= q.To; d++ {
		total += len(o.AppendOn(nil, d))
	}
	return total
}

// large is a business of 20 services that all of 300 members with hours of their own perform, and 60,000 bookings
// within 62 days.
func large(b *testing.B) (*catalog.Offer, Question, []booking.Busy) {
	b.Helper()
	const members, bookings, days = 300, 200, 62
	r := rand.New(rand.NewPCG(1, 1))
	first := timespan.NewDate(2027, time.March, 1)
	offer := &catalog.Offer{Timezone: "Europe/Berlin", Currency: "EUR", Bookings: catalog.Bookings{AdvanceDays: 365}}
	for d := range offer.Hours {
		offer.Hours[d] = []timespan.Window{{From: 8 * 60, To: 13 * 60}, {From: 13 * 60, To: 21 * 60}}
	}
	var occupied []booking.Busy
	var ids []uuid.UUID
	for i := range members {
		id := uuid.UUID{2, byte(i), byte(i >> 8)}
		week := &catalog.WeekHours{}
		for d := range week {
			from := timespan.TimeOfDay(480 + 15*r.IntN(8))
			week[d] = []timespan.Window{{From: from, To: from + 270}, {From: from + 300, To: from + 600}}
		}
		offer.Staff = append(offer.Staff, catalog.Staff{ID: id, Active: true, Order: i, Hours: week})
		ids = append(ids, id)
		busy := booking.Busy{Resource: booking.Resource{ID: id}}
		at := timespan.Instant(first, 0, time.UTC)
		for range bookings {
			at += int64(r.IntN(2*days*day/bookings/900-4)) * 900
			busy.Add(timespan.Span{Start: at, End: at + 2700})
			at += 2700
		}
		occupied = append(occupied, busy)
	}
	for i := range 20 {
		offer.Services = append(offer.Services, catalog.Service{
			ID: uuid.UUID{1, byte(i)}, Active: true, DurationMinutes: 10, SlotIntervalMinutes: 15,
			BufferAfterMinutes: 5, StaffIDs: ids,
		})
	}
	if err := offer.Prepare(); err != nil {
		b.Fatal(err)
	}
	return offer, Question{From: first, To: first + days - 1, Now: time.Unix(timespan.Instant(first-7, 0, time.UTC),
		0)}, occupied
}

// BenchmarkLarge asks for 62 days of it: all 20 services as one appointment, and each of the 20 by itself.
func BenchmarkLarge(b *testing.B) {
	offer, q, occupied := large(b)
	var all []*catalog.Service
	for i := range offer.Services {
		all = append(all, &offer.Services[i])
	}
	run := func(name string, answer func(*Openings, Question) int, questions ...[]*catalog.Service) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			slots := 0
			for b.Loop() {
				slots = 0
				for _, q.Services = range questions {
					slots += answer(Find(offer, q, booking.Occupied{Busy: occupied}), q)
				}
			}
			b.ReportMetric(float64(slots), "slots")
		})
	}
	var each [][]*catalog.Service
	for i := range all {
		each = append(each, all[i:i+1])
	}
	run("one-appointment-of-20/count", count, all)
	run("one-appointment-of-20/list", list, all)
	run("one-service/count", count, all[:1])
	run("one-service/list", list, all[:1])
	run("20-questions/count", count, each...)
}
