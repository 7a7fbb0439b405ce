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

// BenchmarkScenario finds and lists the starts of testdata/scenario.json, and compares the engine with the plain sweep.
func BenchmarkScenario(b *testing.B) {
	s := loadScenario(b)
	for _, members := range []int{1, 20} {
		offer, q, occupied := s.newQuestion(b, members)
		b.Run(fmt.Sprintf("members=%d/count", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				countSlots(Find(offer, q, booking.Occupied{Busy: occupied}), q)
			}
		})
		b.Run(fmt.Sprintf("members=%d/list", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				listSlots(Find(offer, q, booking.Occupied{Busy: occupied}), q)
			}
		})
		b.Run(fmt.Sprintf("members=%d/plain-sweep", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.sweepPlainly(members)
			}
		})
		addSecondPlace(b, offer, occupied)
		b.Run(fmt.Sprintf("members=%d/two-places", members), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				listSlots(Find(offer, q, booking.Occupied{Busy: occupied}), q)
			}
		})
	}
}

// addSecondPlace adds two places to a business, at which all members work all week. The occupied
// times of each second member are at the second place.
func addSecondPlace(b *testing.B, offer *catalog.Snapshot, occupied []booking.Busy) {
	b.Helper()
	offer.Locations = []catalog.Location{{ID: uuid.UUID{3, 1}, Kind: catalog.KindPlace},
		{ID: uuid.UUID{3, 2}, Kind: catalog.KindPlace}}
	offer.Bookings.LocationChangeMinutes = 20
	for i := range occupied {
		occupied[i].LocationID = offer.Locations[i%2].ID
		occupied[i].Served = occupied[i].Edges
	}
	if err := offer.Prepare(); err != nil {
		b.Fatal(err)
	}
}

func countSlots(o *Openings, q Question) int {
	total := 0
	o.EachDay(q.From, q.To, func(_ timespan.Date, n int) { total += n })
	return total
}

func listSlots(o *Openings, q Question) int {
	total := 0
	for d := q.From; d <= q.To; d++ {
		total += len(o.AppendSlots(nil, d))
	}
	return total
}

// newLargeOffer returns a business with 20 services and 300 members, who have their own hours and perform every
// service. It also returns 60,000 bookings within 62 days.
func newLargeOffer(b *testing.B) (*catalog.Snapshot, Question, []booking.Busy) {
	b.Helper()
	const members, bookings, days = 300, 200, 62
	r := rand.New(rand.NewPCG(1, 1))
	first := timespan.NewDate(2027, time.March, 1)
	offer := &catalog.Snapshot{Timezone: "Europe/Berlin", Currency: "EUR", Bookings: catalog.Bookings{AdvanceDays: 365}}
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

// BenchmarkLarge asks for 62 days of newLargeOffer: all 20 services as one appointment, and each service alone.
func BenchmarkLarge(b *testing.B) {
	offer, q, occupied := newLargeOffer(b)
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
	run("one-appointment-of-20/count", countSlots, all)
	run("one-appointment-of-20/list", listSlots, all)
	run("one-service/count", countSlots, all[:1])
	run("one-service/list", listSlots, all[:1])
	run("20-questions/count", countSlots, each...)
}
