package usecase_test

import (
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// spots draws a number of remaining spots, or nil for an unknown number.
var spots = rapid.Ptr(rapid.IntRange(0, 30), true)

// TestFitReducesBasketToTicketsLeft shows that a basket is reduced to the spots that are left of each tier and of the
// event. If these numbers are unknown, the basket stays unchanged.
func TestFitReducesBasketToTicketsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := new(usecase.Event)
		e.SpotsRemaining = spots.Draw(t, "of the event")
		query := url.Values{}
		for i := range rapid.IntRange(1, 4).Draw(t, "tiers") {
			tier := usecase.Tier{TicketTier: publicapi.TicketTier{ID: uuid.NewSHA1(uuid.Nil, []byte{byte(i)}),
				SpotsRemaining: spots.Draw(t, "of a tier")}}
			e.Tiers = append(e.Tiers, tier)
			query.Set(tier.Field(), strconv.Itoa(rapid.IntRange(-1, usecase.MaxTickets+1).Draw(t, "wanted")))
		}
		before, after := usecase.ReadBasket(e, query), usecase.ReadBasket(e, query)
		if parsed := usecase.ReadBasket(e, before.Values()); parsed.Tickets() != before.Tickets() {
			t.Fatalf("%v: read again it wants %d tickets, not %d", query, parsed.Tickets(), before.Tickets())
		}
		isReduced, sum := after.Fit(), 0
		for i := range e.Tiers {
			tier := &e.Tiers[i]
			wanted, got := before.Quantity(tier), after.Quantity(tier)
			sum += got
			switch {
			case got > wanted || got < 0 || tier.SpotsRemaining != nil && got > *tier.SpotsRemaining:
				t.Errorf("tier %d: %d of %d wanted, with %v left", i, got, wanted, tier.SpotsRemaining)
			case e.SpotsRemaining == nil && tier.SpotsRemaining == nil && got != wanted:
				t.Errorf("tier %d: the quantity is %d of %d, although the remaining tickets are unknown", i, got, wanted)
			}
		}
		if e.SpotsRemaining != nil && sum > *e.SpotsRemaining {
			t.Errorf("%d tickets, with %d left", sum, *e.SpotsRemaining)
		}
		if isReduced != (sum < before.Tickets()) {
			t.Errorf("cut: %v, from %d to %d", isReduced, before.Tickets(), sum)
		}
		if after.Fit() {
			t.Error("what fits is cut again")
		}
	})
}

// drawZone draws a time zone. Some of the zones change their clocks at midnight or by half an hour.
func drawZone(t *rapid.T) *time.Location {
	zone, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Lisbon", "America/Havana",
		"Australia/Lord_Howe"}).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// newRental returns a rental with a random id.
func newRental() *usecase.Rental { return &usecase.Rental{Rental: publicapi.Rental{ID: uuid.New()}} }

// TestReservationQueryRoundTripKeepsTimeAndLengths shows that the address contains the chosen reservation. A
// number of days is offered exactly if each of these days is free and the owner permits that number.
func TestReservationQueryRoundTripKeepsTimeAndLengths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newRental()
		r.PriceType = rapid.SampledFrom([]string{catalog.PriceHourly, catalog.PriceDaily}).Draw(t, "price type")
		r.MinRentalDays, r.MaxRentalDays = rapid.Ptr(rapid.IntRange(1, 4), true).Draw(t, "least"),
			rapid.Ptr(rapid.IntRange(1, 40), true).Draw(t, "most")
		r.Extras = []usecase.Extra{{Rental: newRental(), IsRequired: true}, {Rental: newRental()}}
		from, n := timespan.Date(rapid.Int32Range(0, 50_000).Draw(t, "from")), rapid.IntRange(1, 31).Draw(t, "for")
		query := url.Values{"from": {from.String()}, "for": {strconv.Itoa(n)},
			"units": {strconv.Itoa(rapid.IntRange(1, usecase.MaxUnits).Draw(t, "units"))}}
		start := timespan.TimeOfDay(rapid.IntRange(0, timespan.MinutesPerDay-1).Draw(t, "start"))
		if r.IsHourly() {
			query.Set("start", start.String())
		}
		if rapid.Bool().Draw(t, "with the other extra") {
			query.Set("extra", r.Extras[1].ID.String())
		}
		zone := drawZone(t)
		w := usecase.ReadReservation(r, zone, query)
		parsed := usecase.ReadReservation(r, zone, w.Values())
		if !w.IsComplete() || w.Values().Encode() != parsed.Values().Encode() || len(parsed.Lines()) != 2+
			len(query["extra"]) {
			t.Fatalf("%v is read as %v, with %d lines", query, parsed.Values(), len(parsed.Lines()))
		}
		lastDate, endTime := w.End()
		if !r.IsHourly() {
			if lastDate != from+timespan.Date(n-1) {
				t.Errorf("%d days from %s end on %s", n, from, lastDate)
			}
		} else if end := time.Unix(timespan.Instant(from, start, zone)+int64(n)*3600,
			0).In(zone); endTime < 1 || endTime > timespan.MinutesPerDay ||
			end.Hour()*60+end.Minute() != int(endTime)%timespan.MinutesPerDay ||
			timespan.DateOf(end.Add(-time.Second), zone) != lastDate {
			t.Errorf("%d h from %s %s end on %s at %s, and the clock shows %s", n, from, start, lastDate, endTime, end)
		}
		free := rapid.IntRange(0, 40).Draw(t, "days free in a row")
		for days := 1; days <= 40 && !r.IsHourly(); days++ {
			want := days <= free && (r.MinRentalDays == nil || days >= *r.MinRentalDays) &&
				(r.MaxRentalDays == nil && (days <= 31) || r.MaxRentalDays != nil && days <= min(*r.MaxRentalDays, 31))
			if got := slices.Contains(w.FreeLengths([]rental.Start{{Shortest: 1, Longest: free}}), days); got != want {
				t.Errorf("%d days with %d free, %v to %v: offered %v", days, free, r.MinRentalDays, r.MaxRentalDays, got)
			}
		}
	})
}
