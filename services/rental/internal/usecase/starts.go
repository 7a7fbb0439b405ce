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

// Holdings reads the reservations that occupy units; [store.Store] documents its method.
type Holdings interface {
	Holding(ctx context.Context, businessID uuid.UUID, rentalIDs []uuid.UUID,
		dates occupancy.Dates) (map[uuid.UUID][]occupancy.Reservation, error)
}

// Start is a possible start of a reservation, with the possible lengths. A customer
// can reserve every whole number from Shortest to Longest: of days if the rental has a
// price per day, otherwise of hours. Time is nil if the reservation is for whole days.
type Start struct {
	Time              *timespan.TimeOfDay
	Shortest, Longest int
}

// The bounds of the search for starts: the longest reservation
// in days and in hours, and the distance between two starts.
const (
	mostDays    = 62
	mostHours   = 48
	startStep   = 30 // minutes
	stepSeconds = startStep * 60
)

// Starts returns the starts on one date at which a customer can reserve all requested units and all extras, by
// the rules of [Owner.Reserve]. For a rental with a price per hour, Starts checks each half hour of the date.
//
// Until another reservation is made, a customer can reserve exactly the returned starts and lengths. Faults:
// rental_not_found; invalid_parameter; business_not_found. Any other error means that the starts could not be computed.
func Starts(ctx context.Context, offers Offers, holdings Holdings, now clock.Clock, slug string,
	asked Request) ([]Start, error) {
	offer, err := offers.Get(ctx, slug)
	if err != nil {
		return nil, err
	}
	lines, err := linesOf(offer, asked) // the request has no times, so all lines are for whole dates
	if err != nil {
		return nil, err
	}
	at, date := now.Now(), asked.Dates.From
	last := offer.Today(at) + timespan.Date(offer.Bookings.AdvanceDays)
	if date < offer.Today(at) || date > last {
		return nil, nil
	}
	hourly := lines[0].PriceType == catalog.PriceHourly
	dates := occupancy.Dates{From: date, To: min(last, date+mostDays-1)}
	if hourly {
		dates.To = min(last, date+mostHours*60/timespan.MinutesPerDay)
	}
	ids := make([]uuid.UUID, len(lines))
	for i, l := range lines {
		ids[i] = l.ID
	}
	held, err := holdings.Holding(ctx, offer.ID, ids, dates)
	if err != nil {
		return nil, err
	}
	f := fitting{offer: offer, lines: lines, held: held, now: at, dates: dates,
		calendar: occupancy.NewCalendar(offer.Location(), at, dates)}
	if hourly {
		return f.hours(), nil
	}
	return f.days(), nil
}

// fitting is the data of one search for starts: the request,
// and the reservations that occupy units on the searched dates.
type fitting struct {
	offer    *catalog.Snapshot
	lines    []line
	held     map[uuid.UUID][]occupancy.Reservation
	now      time.Time
	dates    occupancy.Dates
	calendar *occupancy.Calendar
}

// whole reports, for each date, whether enough units are free during the
// whole day. The argument `of` is a function that selects the lines to check.
func (f *fitting) whole(of func(line) bool) []bool {
	free := slices.Repeat([]bool{true}, int(f.dates.To-f.dates.From)+1)
	for _, l := range f.lines {
		if !of(l) {
			continue
		}
		for i, units := range f.calendar.Days(occupancy.StockOf(l.Rental), f.held[l.ID]) {
			free[i] = free[i] && units >= l.quantity
		}
	}
	return free
}

// days returns the starts of a rental with a price per day. It returns one Start for each range of
// consecutive lengths that the rules allow. The search ends at the first day on which too few units are free.
func (f *fitting) days() []Start {
	var (
		list []Start
		s    Start
		own  = f.lines[0].Rental
	)
	for i, free := range f.whole(func(line) bool { return true }) {
		if !free {
			break
		}
		stretch := Stretch{Dates: occupancy.Dates{From: f.dates.From, To: f.dates.From + timespan.Date(i)}}
		if stretch.WrongLength(own, timespan.Span{}, false) == nil && stretch.HandedOver(own, f.offer, timespan.Span{},
			false) {
			s.add(i + 1)
			continue
		}
		list = append(list, s.list()...)
		s = Start{}
	}
	return append(list, s.list()...)
}

// hours returns the starts of a rental with a price per hour.
func (f *fitting) hours() []Start {
	var (
		starts []Start
		whole  = f.whole(func(l line) bool { return l.PriceType != catalog.PriceHourly })
		taken  = f.taken()
	)
	for at := timespan.TimeOfDay(0); at < timespan.MinutesPerDay; at += startStep {
		if start := timespan.Instant(f.dates.From, at, f.offer.Location()); start >= f.now.Unix() &&
			f.shows(start, at) {
			starts = append(starts, f.lengths(start, at, whole, taken)...)
		}
	}
	return starts
}

// shows reports whether the local time `at` exists on the first date. The argument `start` is the instant for this
// time. If a clock change skips the local time, the instant `start` has another local time, and the result is false.
func (f *fitting) shows(start int64, at timespan.TimeOfDay) bool {
	shown := time.Unix(start, 0).In(f.offer.Location())
	return timespan.DateOf(shown, f.offer.Location()) == f.dates.From && shown.Hour()*60+shown.Minute() == int(at)
}

// lengths returns the possible lengths of a reservation that begins at the instant
// `start`. The argument `at` is the local time of this instant. Lengths are whole numbers
// of elapsed hours. The result has one Start for each range of consecutive lengths.
//
// The argument `whole` reports for each date whether enough units of the rentals with a price per day are
// free. The function `taken` reports whether too few units of the other rentals are free during a span.
//
// If a clock change repeats a local time, a reservation that ends at this time ends at its
// first occurrence. Therefore lengths leaves out a length that ends at the second occurrence.
func (f *fitting) lengths(start int64, at timespan.TimeOfDay, whole []bool, taken func(timespan.Span) bool) []Start {
	var list []Start
	s := Start{Time: &at}
	for hours := 1; hours <= mostHours; hours++ {
		during := timespan.Span{Start: start, End: start + int64(hours)*3600}
		date, end, isNamed := timespan.EndAfter(start, int64(hours)*3600, f.offer.Location())
		if date > f.dates.To || !whole[date-f.dates.From] || taken(during) {
			break
		}
		stretch := Stretch{Dates: occupancy.Dates{From: f.dates.From, To: date}, Start: &at, End: &end}
		own := f.lines[0].Rental
		if isNamed && stretch.WrongLength(own, during, true) == nil && stretch.HandedOver(own, f.offer, during, true) {
			s.add(hours)
			continue
		}
		list = append(list, s.list()...)
		s = Start{Time: &at}
	}
	return append(list, s.list()...)
}

// taken returns a function that reports whether too few units are free for the request at any moment of a span.
// The function considers only rentals with a price per hour. It first extends the span to whole half hours.
//
// The free units of each rental are computed once, for each half hour of elapsed time after the first midnight.
func (f *fitting) taken() func(timespan.Span) bool {
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
		for i, units := range f.calendar.Between(cuts, occupancy.StockOf(l.Rental), f.held[l.ID]) {
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
