package api

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// newSlotList returns the answer of /slots as a type of the contract, for encoding/json.
func newSlotList(a answer, d timespan.Date) publicapi.SlotList {
	body := publicapi.SlotList{Slots: []publicapi.Slot{}, Computed: a.isComputed, Timezone: a.timezone}
	for _, s := range a.openings.AppendSlots(nil, d) {
		row := publicapi.Slot{Time: s.Time, EndTime: s.End, Date: s.Date}
		if s.Date != d {
			row.DateOffset = 1
		}
		if s.Staff != nil {
			row.StaffID, row.StaffName = &s.Staff.ID, &s.Staff.Name
		}
		if s.Session != nil {
			row.RemainingCapacity, row.ClassScheduleID = new(int(s.Remaining)), &s.Session.ID
		}
		body.Slots = append(body.Slots, row)
	}
	return body
}

func mustMarshal(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// newRandomName returns a name with characters that JSON escapes, and with others.
func newRandomName(r *rand.Rand) string {
	parts := []string{"Anna", "ß", `"`, `\`, "<b>", "&", "\n", "\x00", "\x1f", "\x7f", "\u2028", "\u2029", "\ufffd",
		"\xff", "\xc3", "😀", " "}
	var name strings.Builder
	for range r.IntN(6) {
		name.WriteString(parts[r.IntN(len(parts))])
	}
	return name.String()
}

// newRandomAnswer computes the answer for a random week of a random business.
func newRandomAnswer(r *rand.Rand) answer {
	n := &fakePeers{offer: newHarbor()}
	randomBusiness(r)(n)
	for i := range n.offer.Staff {
		n.offer.Staff[i].Name = newRandomName(r)
	}
	service := n.offer.Services[r.IntN(4)]
	q := slot.Question{
		Services: []*catalog.Service{&service}, From: firstOfWeek, To: firstOfWeek + 6, IsPackage: r.IntN(4) == 0,
		Now: time.Date(2027, time.March, 14, 8, 0, 0, 0, time.UTC),
	}
	return answer{
		isComputed: true, timezone: n.offer.Timezone, offer: n.offer, question: q,
		openings: slot.Find(n.offer, q, booking.Occupied{Busy: n.busy, Seats: n.seats}),
	}
}

func TestRenderMatchesEncodingJSON(t *testing.T) {
	t.Parallel()
	listed, classes := 0, 0
	for seed := range uint64(300) {
		a := newRandomAnswer(rand.New(rand.NewPCG(seed, 4)))
		days := publicapi.AvailableDates{Days: map[timespan.Date]int{}, Computed: true, Timezone: a.timezone}
		for d := firstOfWeek; d < firstOfWeek+7; d++ {
			want := newSlotList(a, d)
			if diff := cmp.Diff(mustMarshal(t, want), string(a.appendSlots(nil, d))); diff != "" {
				t.Fatalf("seed %d, %s (-encoding/json +ours):\n%s", seed, d, diff)
			}
			days.Days[d] = len(want.Slots)
			listed += len(want.Slots)
			if len(want.Slots) > 0 && want.Slots[0].ClassScheduleID != nil {
				classes++
			}
		}
		got := a.appendDays([]byte("before"), query{From: firstOfWeek, To: firstOfWeek + 6})
		if diff := cmp.Diff("before"+mustMarshal(t, days), string(got)); diff != "" {
			t.Fatalf("seed %d (-encoding/json +ours):\n%s", seed, diff)
		}
	}
	if listed == 0 || classes == 0 {
		t.Errorf("%d slots on %d days of classes, so the comparison proves nothing", listed, classes)
	}
}

func FuzzAppendText(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 20 {
		f.Add(newRandomName(r))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(appendText(nil, s)), mustMarshal(t, s); got != want {
			t.Errorf("%q becomes %s, encoding/json writes %s", s, got, want)
		}
	})
}

// newSalonAnswer returns the answer for one day of 10 members with this number of starts each.
func newSalonAnswer(t testing.TB, starts int) answer {
	t.Helper()
	offer := &catalog.Snapshot{Timezone: "Europe/Berlin", Currency: "EUR", Bookings: catalog.Bookings{AdvanceDays: 365}}
	service := catalog.Service{ID: haircut, Active: true, DurationMinutes: 5, SlotIntervalMinutes: 5}
	for d := range offer.Hours {
		offer.Hours[d] = []timespan.Window{{From: 0, To: timespan.TimeOfDay(5 * starts)}}
	}
	for i := range 10 {
		offer.Staff = append(offer.Staff, catalog.Staff{ID: uuid.UUID{2, byte(i)}, Name: "Member", Active: true,
			Order: i})
		service.StaffIDs = append(service.StaffIDs, offer.Staff[i].ID)
	}
	offer.Services = []catalog.Service{service}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	q := slot.Question{Services: []*catalog.Service{&service}, From: firstOfWeek, To: firstOfWeek,
		Now: time.Unix(int64(firstOfWeek-2)*86400, 0)}
	a := answer{isComputed: true, timezone: offer.Timezone, offer: offer, question: q,
		openings: slot.Find(offer, q, booking.Occupied{})}
	if n := len(a.openings.AppendSlots(nil, firstOfWeek)); n != 10*starts {
		t.Fatalf("the salon has %d slots, want %d", n, 10*starts)
	}
	return a
}

func BenchmarkRenderSlots(b *testing.B) {
	a := newSalonAnswer(b, 20)
	body := a.appendSlots(nil, firstOfWeek)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body = a.appendSlots(body[:0], firstOfWeek)
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = mustMarshal(b, newSlotList(a, firstOfWeek))
		}
	})
}

func BenchmarkRenderDays(b *testing.B) {
	a := newSalonAnswer(b, 20)
	q := query{From: firstOfWeek, To: firstOfWeek + 61}
	body := a.appendDays(nil, q)
	b.ReportAllocs()
	for b.Loop() {
		body = a.appendDays(body[:0], q)
	}
}

func TestPoolsDropLargeBuffers(t *testing.T) {
	t.Parallel()
	small, large := make([]byte, 0, 1<<10), make([]byte, 0, maxKeptBody+1)
	if !keepBody(&small) || keepBody(&large) {
		t.Error("the wrong buffer is kept")
	}
	few, many := newList(), newList()
	many.slots = make([]slot.Slot, 0, maxKeptSlots+1)
	if !few.free() || many.free() {
		t.Error("the wrong list is kept")
	}
}
