package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// OccupancyReader reads the reservations that occupy units; [store.Store] documents its method.
type OccupancyReader interface {
	FindOccupying(ctx context.Context, businessID uuid.UUID, rentalIDs []uuid.UUID,
		dates occupancy.Dates) (map[uuid.UUID][]occupancy.Reservation, error)
}

// Start is a possible start of a reservation, with the possible lengths. The lengths are all whole numbers from
// Shortest to Longest, in days if the rental has a price per day, otherwise in hours. Time is nil if the reservation is
// for whole days.
type Start struct {
	Time              *timespan.TimeOfDay
	Shortest, Longest int
}

// The bounds of the search for starts: the longest reservation
// in days and in hours, and the distance between two starts.
const (
	maxDays     = 62
	maxHours    = 48
	startStep   = 30 // minutes
	stepSeconds = startStep * 60
)

// FindStarts returns the starts on the date `req.Dates.From` at which a customer can reserve
// all requested units and extras. The rules are those of [Owner.Reserve] for customers. For
// a rental with a price per hour, FindStarts checks each half hour of the date.
//
// Until another reservation is made, a customer can reserve exactly the returned starts and lengths. Faults:
// rental_not_found; invalid_parameter; business_not_found. Any other error means that the starts could not be computed.
func FindStarts(ctx context.Context, offers Offers, reader OccupancyReader, now clock.Clock, slug string,
	req Request) ([]Start, error) {
	offer, err := offers.Get(ctx, slug)
	if err != nil {
		return nil, err
	}
	lines, err := newLines(offer, req) // the request has no times, so all lines are for whole dates
	if err != nil {
		return nil, err
	}
	at, date := now.Now(), req.Dates.From
	last := offer.Today(at) + timespan.Date(offer.Bookings.AdvanceDays)
	if date < offer.Today(at) || date > last {
		return nil, nil
	}
	hourly := lines[0].PriceType == catalog.PriceHourly
	dates := occupancy.Dates{From: date, To: min(last, date+maxDays-1)}
	if hourly {
		dates.To = min(last, date+maxHours*60/timespan.MinutesPerDay)
	}
	ids := make([]uuid.UUID, len(lines))
	for i, l := range lines {
		ids[i] = l.ID
	}
	occupying, err := reader.FindOccupying(ctx, offer.ID, ids, dates)
	if err != nil {
		return nil, err
	}
	f := startSearch{offer: offer, lines: lines, occupying: occupying, now: at, dates: dates,
		calendar: occupancy.NewCalendar(offer.Location(), at, dates)}
	if hourly {
		return f.listHourStarts(), nil
	}
	return f.listDayStarts(), nil
}

// startSearch is the data of one search for starts: the request,
// and the reservations that occupy units on the searched dates.
type startSearch struct {
	offer     *catalog.Snapshot
	lines     []line
	occupying map[uuid.UUID][]occupancy.Reservation
	now       time.Time
	dates     occupancy.Dates
	calendar  *occupancy.Calendar
}

// findWholeDays reports, for each date, whether enough units are free during the
// whole day. It checks only the lines for which the function `selects` returns true.
func (f *startSearch) findWholeDays(selects func(line) bool) []bool {
	free := slices.Repeat([]bool{true}, int(f.dates.To-f.dates.From)+1)
	for _, l := range f.lines {
		if !selects(l) {
			continue
		}
		for i, units := range f.calendar.CountFreeByDay(occupancy.NewStock(l.Rental), f.occupying[l.ID]) {
			free[i] = free[i] && units >= l.quantity
		}
	}
	return free
}

// listDayStarts returns the starts of a rental with a price per day. It returns one Start for each range of
// consecutive lengths that the rules allow. The search ends at the first day on which too few units are free.
func (f *startSearch) listDayStarts() []Start {
	var (
		list []Start
		s    Start
		own  = f.lines[0].Rental
	)
	for i, free := range f.findWholeDays(func(line) bool { return true }) {
		if !free {
			break
		}
		stretch := Period{Dates: occupancy.Dates{From: f.dates.From, To: f.dates.From + timespan.Date(i)}}
		if stretch.FindLengthViolation(own, timespan.Span{}, false) == nil && stretch.IsWithinOpeningHours(own, f.offer,
			timespan.Span{},
			false) {
			s.add(i + 1)
			continue
		}
		list = append(list, s.list()...)
		s = Start{}
	}
	return append(list, s.list()...)
}

// listHourStarts returns the starts of a rental with a price per hour.
func (f *startSearch) listHourStarts() []Start {
	var (
		starts     []Start
		whole      = f.findWholeDays(func(l line) bool { return l.PriceType != catalog.PriceHourly })
		isOccupied = f.newOccupiedCheck()
	)
	for at := timespan.TimeOfDay(0); at < timespan.MinutesPerDay; at += startStep {
		if start := timespan.Instant(f.dates.From, at, f.offer.Location()); start >= f.now.Unix() &&
			f.exists(start, at) {
			starts = append(starts, f.listLengths(start, at, whole, isOccupied)...)
		}
	}
	return starts
}

// exists reports whether the local time `at` exists on the first date. The
// argument `start` is the instant for this time. If a clock change skips the local
// time `at`, the instant `start` has another local time, and the result is false.
func (f *startSearch) exists(start int64, at timespan.TimeOfDay) bool {
	shown := time.Unix(start, 0).In(f.offer.Location())
	return timespan.DateOf(shown, f.offer.Location()) == f.dates.From && shown.Hour()*60+shown.Minute() == int(at)
}

// listLengths returns the possible lengths of a reservation that begins at the instant `start`. The argument `at` is
// the local time of this instant. Lengths are whole numbers of elapsed hours. The result has one Start for each range
// of consecutive lengths.
//
// The argument `whole` reports for each date whether enough units of the rentals with a price per day are free. The
// function `isOccupied` reports whether too few units of the other rentals are free during a span.
//
// A clock change can repeat a local time. A reservation that ends at such a local time ends at the first occurrence of
// the time. Therefore listLengths leaves out a length that ends at the second occurrence.
func (f *startSearch) listLengths(start int64, at timespan.TimeOfDay, whole []bool,
	isOccupied func(timespan.Span) bool) []Start {
	var list []Start
	s := Start{Time: &at}
	for hours := 1; hours <= maxHours; hours++ {
		span := timespan.Span{Start: start, End: start + int64(hours)*3600}
		date, end, isNamed := timespan.EndAfter(start, int64(hours)*3600, f.offer.Location())
		if date > f.dates.To || !whole[date-f.dates.From] || isOccupied(span) {
			break
		}
		stretch := Period{Dates: occupancy.Dates{From: f.dates.From, To: date}, Start: &at, End: &end}
		own := f.lines[0].Rental
		if isNamed && stretch.FindLengthViolation(own, span, true) == nil && stretch.IsWithinOpeningHours(own, f.offer,
			span, true) {
			s.add(hours)
			continue
		}
		list = append(list, s.list()...)
		s = Start{Time: &at}
	}
	return append(list, s.list()...)
}

// newOccupiedCheck returns a function that gets a span. The function reports whether the span has a moment at which too
// few units are free for the request. The function considers only rentals with a price per hour. It first extends the
// span to whole half hours.
//
// The free units of each rental are computed once, for each half hour of elapsed time after the first midnight.
func (f *startSearch) newOccupiedCheck() func(timespan.Span) bool {
	all := f.calendar.Span()
	var cuts []int64
	for at := all.Start; at < all.End; at += stepSeconds {
		cuts = append(cuts, at)
	}
	cuts = append(cuts, all.End)
	before := make([]int, len(cuts)) // number of occupied half hours before each cut
	for _, l := range f.lines {
		if l.PriceType != catalog.PriceHourly {
			continue
		}
		for i, units := range f.calendar.CountFreeBetween(cuts, occupancy.NewStock(l.Rental), f.occupying[l.ID]) {
			if units < l.quantity {
				before[i+1] = 1
			}
		}
	}
	for i := 1; i < len(before); i++ {
		before[i] += before[i-1]
	}
	return func(s timespan.Span) bool {
		from, to := (s.Start-all.Start)/stepSeconds, (s.End-all.Start+stepSeconds-1)/stepSeconds
		return before[min(int(to), len(before)-1)] > before[from]
	}
}

// add adds a possible length to the start. The caller must add lengths in ascending order.
func (s *Start) add(length int) {
	if s.Longest = length; s.Shortest == 0 {
		s.Shortest = length
	}
}

// list returns a list that contains the start, or an empty list if the start has no possible length.
func (s *Start) list() []Start {
	if s.Longest == 0 {
		return nil
	}
	return []Start{*s}
}
