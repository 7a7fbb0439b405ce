package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestBookAcceptsExactlyListedSlots checks generated businesses over HTTP: every listed slot can be booked, and a start
// that is not listed is refused (semantics.md §3).
func TestBookAcceptsExactlyListedSlots(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	w := sharePlatform(t)
	for i := range 4 {
		slug := fmt.Sprintf("any-%d", i)
		manifest := generateBusiness(rng, slug)
		w.publish(t, slug, manifest)
		b := &bookingClient{w: w, slug: slug}
		for name, id := range w.idsByName(t, slug, "services") {
			// Clocks in Lisbon change on 28 March.
			for _, date := range []string{"2027-03-27", "2027-03-28", "2027-03-29"} {
				b.checkDay(t, rng, id, date)
				if t.Failed() {
					t.Fatalf("service %s on %s of\n%s", name, date, manifest)
				}
			}
		}
	}
}

// bookingClient books with a new key after every 90 requests, because each key has a limit.
type bookingClient struct {
	w     *platform
	slug  string
	key   string
	asked int
}

func (b *bookingClient) book(t *testing.T, o order) reply {
	t.Helper()
	if b.asked%90 == 0 {
		b.key = b.w.createKey(t, b.slug, "write")
	}
	b.asked++
	return b.w.book(t, b.slug, b.key, o)
}

// checkDay books and cancels some of the day's slots, and tries starts that are not listed.
func (b *bookingClient) checkDay(t *testing.T, rng *rand.Rand, service, date string) {
	t.Helper()
	listed := b.w.listSlots(t, b.slug, date, "service_id="+service)
	starts := make(map[string]bool)
	for _, s := range listed.Slots {
		starts[s.Date+s.Time] = true
	}
	for _, i := range rng.Perm(len(listed.Slots))[:min(6, len(listed.Slots))] {
		s := listed.Slots[i]
		o := newOrder(service, s.Date, s.Time)
		if s.StaffID != nil {
			o = o.withField("staff_id", *s.StaffID)
		}
		a := b.book(t, o)
		if a.status != http.StatusCreated {
			t.Errorf("listed slot %s %s answered %d: %s", s.Date, s.Time, a.status, a.body)
			return
		}
		var created struct{ Booking struct{ ID string } }
		a.decode(t, http.StatusCreated, &created)
		b.w.callAdmin(t, http.MethodPost, "businesses/"+b.slug+"/bookings/"+created.Booking.ID+"/cancel",
			nil).checkStatus(t,
			http.StatusOK, "")
	}
	// A slot after midnight has the next date. Slots of the day before may therefore be on this date.
	for _, s := range b.w.listSlots(t, b.slug, findDayBefore(t, date), "service_id="+service).Slots {
		starts[s.Date+s.Time] = true
	}
	for range 6 {
		at := fmt.Sprintf("%02d:%02d", rng.IntN(24), 5*rng.IntN(12))
		a, means := b.book(t, newOrder(service, date, at)), at
		if date == "2027-03-28" && strings.HasPrefix(at, "01:") {
			// the clocks skip this hour, so that the time means the first instant after it (semantics.md §1)
			means = "02:00"
		}
		if !starts[date+means] && a.status != http.StatusConflict {
			t.Errorf("unlisted start %s %s answered %d: %s", date, at, a.status, a.body)
		}
	}
}

func findDayBefore(t *testing.T, date string) string {
	t.Helper()
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return d.AddDate(0, 0, -1).Format(time.DateOnly)
}

// generateBusiness returns the manifest of a random business in Lisbon.
func generateBusiness(rng *rand.Rand, slug string) string {
	var m strings.Builder
	fmt.Fprintf(&m,
		"apiVersion: slotmesh/v1\nkind: Business\nslug: %s\nname: Any\ncurrency: EUR\ntimezone: Europe/Lisbon\n", slug)
	m.WriteString("default_language: en\nlanguages: [en]\nmodules: {services: true, events: false, rentals: false}\n")
	fmt.Fprintf(&m, "bookings: {slot_interval_minutes: %d, min_notice_minutes: 0, advance_days: 60}\nhours:\n",
		[]int{10, 15, 20, 30}[rng.IntN(4)])
	for _, day := range []string{"mon", "fri", "sat", "sun"} {
		fmt.Fprintf(&m, "  %s: [%s]\n", day, generateWindows(rng))
	}
	fmt.Fprintf(&m, "overrides:\n  - {date: 2027-03-29, hours: [%s]}\n", generateWindows(rng))
	m.WriteString("blocks:\n  - {from: 2027-03-28T11:00, to: 2027-03-28T12:10}\n  - {from: 2027-03-27T09:00, to: 2027-03-27T13:00, staff: [s0]}\n")
	fmt.Fprintf(&m,
		"staff:\n  - {key: s0, name: Zero, order: 2}\n  - {key: s1, name: One, order: 1, hours: {sat: [%s], sun: [%s]}}\n", generateWindows(rng), generateWindows(rng))
	fmt.Fprintf(&m,
		"services:\n  - {key: staffed, name: Staffed, duration_minutes: %d, buffer_before_minutes: %d, buffer_after_minutes: %d, price: 10, staff: [s0, s1]}\n",
		15+5*rng.IntN(20), 5*rng.IntN(3), 5*rng.IntN(4))
	fmt.Fprintf(&m, "  - {key: laned, name: Laned, duration_minutes: %d, price: 5, capacity: %d}\n", 20+10*rng.IntN(6),
		1+rng.IntN(3))
	return m.String()
}

// generateWindows returns one or two opening windows. Some of them end after midnight.
func generateWindows(rng *rand.Rand) string {
	all := []string{`"09:00-12:00"`, `"12:00-17:30"`, `"00:00-24:00"`, `"20:00-02:00"`, `"22:30-04:15"`,
		`"10:05-19:00"`, `"00:30-03:30"`}
	selected := []string{all[rng.IntN(len(all))]}
	if rng.IntN(2) == 0 {
		selected = append(selected, all[rng.IntN(len(all))])
	}
	return strings.Join(selected, ", ")
}
