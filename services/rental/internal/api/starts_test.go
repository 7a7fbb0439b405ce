package api_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// starts returns the starts of a rental on a date with the given quantity and extras.
func (s service) starts(t *testing.T, id, date string, quantity int, extras ...string) []rental.Start {
	t.Helper()
	day, err := timespan.ParseDate(date)
	if err != nil {
		t.Fatal(err)
	}
	req := rental.Wanted{RentalID: uuid.MustParse(id), Date: day, Quantity: quantity}
	for _, extra := range extras {
		req.Extras = append(req.Extras, uuid.MustParse(extra))
	}
	got, err := s.client.Starts(t.Context(), "harbor", req)
	if err != nil || !got.Computed {
		t.Fatalf("got %+v, %v", got, err)
	}
	return got.Starts
}

// parseAnswer reports whether /rental-availability finds all of the rentals available.
func (s service) parseAnswer(t *testing.T, query []string, ids ...string) bool {
	t.Helper()
	for _, id := range ids {
		if answer := s.check(t, append([]string{"rentalId", id}, query...)...); !strings.Contains(answer.body,
			`"available":true`) {
			return false
		}
	}
	return true
}

// TestStartsEqualReservableStarts compares the starts on full hours with /rental-availability, for each
// permitted length, with and without an extra.
func TestStartsEqualReservableStarts(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(func(o *catalog.Snapshot) {
		for i := range o.Rentals {
			if o.Rentals[i].ID.String() == kayak {
				o.Rentals[i].MinRentalHours, o.Rentals[i].MaxRentalHours = new(2), new(5)
			}
		}
	})
	dice := rand.New(rand.NewPCG(7, 1))
	clock := func(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }
	for range 8 { // random reservations, not only on half hours
		from := dice.IntN(22 * 60)
		_, _ = s.client.Reserve(t.Context(), "harbor", newRequest(kayak, 1+dice.IntN(2), "2027-06-11", "2027-06-11",
			clock(from), clock(from+30+dice.IntN(90))))
	}
	s.reserve(t, tent, 2, "2027-06-12", "2027-06-12")
	for _, date := range []string{"2027-06-10", "2027-06-11"} {
		for _, extras := range [][]string{nil, {tent}} {
			got := map[string][2]int{}
			for _, start := range s.starts(t, kayak, date, 2, extras...) {
				got[start.Time.String()] = [2]int{start.Shortest, start.Longest}
			}
			want := map[string][2]int{}
			for at := 0; at < 24*60; at += 60 { // only full hours, to send fewer requests
				day, _ := timespan.ParseDate(date)
				if date == "2027-06-10" && at < 10*60 { // before the present time
					continue
				}
				for hours := 2; hours <= 5; hours++ {
					until := day + timespan.Date((at+hours*60-1)/(24*60))
					ends := (at + hours*60) - int(until-day)*24*60
					query := []string{"startDate", date, "endDate", until.String(), "startTime", clock(at), "endTime",
						clock(ends), "quantity", "2"}
					if s.parseAnswer(t, query, append([]string{kayak}, extras...)...) {
						was := want[clock(at)]
						if was[0] == 0 {
							was[0] = hours
						}
						want[clock(at)] = [2]int{was[0], hours}
					}
				}
			}
			for at := range got {
				if !strings.HasSuffix(at, ":00") {
					delete(got, at)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%s with %d extras (-want +got):\n%s", date, len(extras), diff)
			}
		}
	}
}

// TestStartsAreAcceptedOnClockChanges checks the starts at night on dates of clock changes. The lengths are
// in elapsed hours.
func TestStartsAreAcceptedOnClockChanges(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	zone := s.offer.Location()
	for _, day := range []timespan.Date{timespan.NewDate(2027, time.March, 28),
		timespan.NewDate(2027, time.October, 31)} {
		s.clock.Set(time.Unix(timespan.Instant(day-3, 0, zone), 0))
		listed := map[string]bool{}
		for _, start := range s.starts(t, kayak, day.String(), 1) {
			for hours := start.Shortest; hours <= start.Longest; hours++ {
				listed[fmt.Sprint(start.Time, " for ", hours)] = true
			}
		}
		for at := timespan.TimeOfDay(0); at <= 4*60; at += 30 {
			start := timespan.Instant(day, at, zone)
			shown := time.Unix(start, 0).In(zone)
			for hours := 1; hours <= 4; hours++ {
				until, ends, isNamed := timespan.EndAfter(start, int64(hours)*3600, zone)
				name, want := fmt.Sprint(at, " for ", hours), isNamed && shown.Hour()*60+shown.Minute() == int(at)
				if listed[name] != want {
					t.Errorf("%s %s: listed %t, want %t", day, name, listed[name], want)
				}
				query := []string{"startDate", day.String(), "endDate", until.String(), "startTime", at.String(),
					"endTime", ends.String()}
				if listed[name] && !s.parseAnswer(t, query, kayak) {
					t.Errorf("%s %s is listed and refused", day, name)
				}
				if elapsed := timespan.Instant(until, ends, zone) - start; listed[name] &&
					elapsed != int64(hours)*3600 {
					t.Errorf("%s %s lasts %d s", day, name, elapsed)
				}
			}
		}
		for _, start := range s.starts(t, bike, (day - 1).String(), 1) {
			for days := start.Shortest; days <= min(start.Longest, 5); days++ {
				if !s.parseAnswer(t, []string{"startDate", (day - 1).String(), "endDate",
					(day + timespan.Date(days) - 2).String()}, bike) {
					t.Errorf("%d days from %s are listed and refused", days, day-1)
				}
			}
		}
	}
}

// TestDatesListDaysWithShortestRental shows that the number of units on a date is the number that
// can be reserved for the shortest period from that date on.
func TestDatesListDaysWithShortestRental(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(func(o *catalog.Snapshot) { o.Rentals[0].MinRentalDays, o.Rentals[0].MaxRentalDays = new(3), new(4) })
	s.reserve(t, bike, 10, "2027-06-15", "2027-06-15")
	s.reserve(t, bike, 4, "2027-06-18", "2027-06-20")
	first, last := timespan.NewDate(2027, time.June, 11), timespan.NewDate(2027, time.June, 24)
	for _, window := range [][2]timespan.Date{{first, last},
		{timespan.NewDate(2028, time.June, 5), timespan.NewDate(2028, time.June, 9)}} {
		answer := s.days(t, "rental_id", bike, "start", window[0].String(), "end", window[1].String())
		for d := window[0]; d <= window[1]; d++ {
			want := 0
			for units := 1; units <= 10; units++ {
				if s.parseAnswer(t, []string{"startDate", d.String(), "endDate", (d + 2).String(), "quantity",
					strconv.Itoa(units)}, bike) {
					want = units
				}
			}
			if !strings.Contains(answer.body, fmt.Sprintf(`%q:{%q:%d}`, d, bike, want)) {
				t.Errorf("%s: want %d in %s", d, want, answer.body)
			}
		}
	}
	if got := s.starts(t, bike, "2027-06-12", 7); len(got) != 1 || got[0] != (rental.Start{Shortest: 3, Longest: 3}) {
		t.Errorf("three days until all are taken: %+v", got)
	}
	if got := s.starts(t, bike, "2027-06-16", 7); len(got) != 0 {
		t.Errorf("two days until too few are left: %+v", got)
	}
	if got := s.starts(t, bike, "2027-06-16", 6); len(got) != 1 || got[0] != (rental.Start{Shortest: 3, Longest: 4}) {
		t.Errorf("the starts for the longest rental: %+v", got)
	}
}

func TestStartsReportUncomputedAnswer(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	for name, change := range map[string]func(*fakePeers){
		"the offer": func(p *fakePeers) {
			p.offerErr = errors.New("away")
		}, "what is held": func(p *fakePeers) { p.offerErr, p.occupyingErr = nil, context.DeadlineExceeded },
	} {
		s.change(change)
		got, err := s.client.Starts(t.Context(), "harbor", rental.Wanted{RentalID: uuid.MustParse(kayak),
			Date: timespan.NewDate(2027, 6, 11), Quantity: 1})
		if err != nil || got.Computed || len(got.Starts) != 0 {
			t.Errorf("%s cannot be read: %+v, %v", name, got, err)
		}
	}
	s.change(func(p *fakePeers) { p.offerErr, p.occupyingErr = nil, nil })
	if _, err := s.client.Starts(t.Context(), "harbor", rental.Wanted{RentalID: uuid.New(),
		Date: timespan.NewDate(2027, 6, 11), Quantity: 1}); !fault.Is(err, fault.RentalNotFound) {
		t.Errorf("an unknown rental: %v", err)
	}
	for _, query := range []string{"", "rental_id=x&date=2027-06-11", "rental_id=" + kayak,
		"rental_id=" + kayak + "&date=2027-02-30", "rental_id=" + kayak + "&date=2027-06-11&quantity=0",
		"rental_id=" + kayak + "&date=2027-06-11&extra_id=x"} {
		if answer := fetch(t, s.base+"/internal/businesses/harbor/starts?"+query, nil); answer.status != 400 {
			t.Errorf("%q: %d", query, answer.status)
		}
	}
}
