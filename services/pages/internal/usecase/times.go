package usecase

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Slot is a free start of an appointment.
type Slot = publicapi.Slot

// Calendar holds the free days of a month, and the free starts of one day of the month.
type Calendar struct {
	IsKnown bool          // if false, availability is unknown; the fields below have no meaning
	Month   timespan.Date // the first day of the month
	Free    map[timespan.Date]int
	// Day is the date whose starts are listed. It is the chosen date, or the first date of the
	// month with a free start if no date is chosen. It is nil if the month has no free start.
	Day   *timespan.Date
	Slots []Slot
	// First and Last are the first and the last date that can be booked.
	First, Last timespan.Date
	// IsMonthOpen is true if the page shows the whole month. The page does so if the visitor asks for the month, if Day
	// is not in [Calendar.Strip], or if Day is nil.
	IsMonthOpen bool
	// Soonest is the first start in Slots if it is known that no date before Day has a free start. Otherwise Soonest is
	// nil.
	Soonest *Slot
}

// stripDays is the number of dates that the page shows before the visitor opens the month.
const stripDays = 14

// Strip returns the first dates that can be booked, at most 14.
func (c *Calendar) Strip() []timespan.Date {
	var days []timespan.Date
	for d := c.First; d < c.First+stripDays && d <= c.Last; d++ {
		days = append(days, d)
	}
	return days
}

// maxQueryDays is the maximum number of days for which the availability service answers one request.
const maxQueryDays = 62

// Times returns the free days of the month and the free starts of the day that the visitor looks at. If the argument
// `month` is nil, the month is the month of the chosen date. If no date is chosen either, it is the month of the next
// free day. Times ignores dates and months in the past.
//
// If availability is unknown, the field IsKnown of the result is false, so that the page does not show days as fully
// booked by mistake. Faults: service_not_found; invalid_parameter.
func (s *Shop) Times(ctx context.Context, b *Business, a *Appointment, month *timespan.Date) (*Calendar, error) {
	return s.readTimes(ctx, b, a.calendarQuery(), a.Date, month)
}

// readTimes implements [Shop.Times]. The argument `baseQuery` is the query for the free times, and the argument `date`
// is the chosen date.
func (s *Shop) readTimes(ctx context.Context, b *Business, baseQuery url.Values,
	date, month *timespan.Date) (*Calendar, error) {
	c := &Calendar{First: b.Today(), Last: b.Today() + timespan.Date(b.Snapshot.Bookings.AdvanceDays)}
	if date != nil && *date < c.First { // this date is past; the visitor chose it before midnight
		date = nil
	}
	if month != nil && nextMonth(*month) <= c.First {
		month = nil
	}
	c.Day, c.IsMonthOpen = date, month != nil
	if month == nil {
		month = date
	}
	// The first query covers the dates of [Calendar.Strip] and the whole of the next month.
	from, to := c.First, c.First+maxQueryDays-1
	if err := s.readDays(ctx, b, baseQuery, c, from, to); err != nil || !c.IsKnown {
		return c, err
	}
	isNear := true
	if month != nil {
		c.Month = firstOfMonth(*month)
		near := to
		from, to = max(c.First, c.Month), min(c.Last, nextMonth(c.Month)-1)
		if isNear = to <= near; !isNear {
			if err := s.addDays(ctx, b, baseQuery, c, from, to); err != nil || !c.IsKnown {
				return c, err
			}
		}
	}
	if c.Day == nil || firstOfMonth(*c.Day) != c.Month && c.Month != 0 {
		c.Day = findFirstFree(c.Free, from, to)
	}
	if c.Month == 0 && c.Day != nil {
		c.Month = firstOfMonth(*c.Day)
	} else if c.Month == 0 {
		c.Month = firstOfMonth(c.First)
	}
	c.IsMonthOpen = c.IsMonthOpen || c.Day == nil || *c.Day >= c.First+stripDays
	if c.Day == nil {
		return c, nil
	}
	if err := s.readSlots(ctx, b, baseQuery, c); err != nil || !c.IsKnown {
		return c, err
	}
	if isNear && len(c.Slots) > 0 && findFirstFree(c.Free, c.First, *c.Day-1) == nil {
		c.Soonest = &c.Slots[0]
	}
	return c, nil
}

// addDays reads the numbers of free starts on the dates from `from` to `to`, and adds these numbers to `c`.
func (s *Shop) addDays(ctx context.Context, b *Business, baseQuery url.Values, c *Calendar,
	from, to timespan.Date) error {
	free := maps.Clone(c.Free) // the answer is cached, so the map must not be changed
	err := s.readDays(ctx, b, baseQuery, c, from, to)
	if err != nil || !c.IsKnown {
		return err
	}
	maps.Copy(free, c.Free)
	c.Free = free
	return nil
}

// readDays reads the number of free starts on each date from `from` to `to`, and stores these numbers in `c`.
func (s *Shop) readDays(ctx context.Context, b *Business, baseQuery url.Values, c *Calendar,
	from, to timespan.Date) error {
	if to < from {
		c.IsKnown, c.Free = true, map[timespan.Date]int{}
		return nil
	}
	query := maps.Clone(baseQuery)
	query.Set("start", from.String())
	query.Set("end", to.String())
	answer, err := readCalendar[publicapi.AvailableDates](ctx, s, b, "available-dates", query)
	if err != nil || answer == nil {
		return err
	}
	c.IsKnown, c.Free = answer.Computed, answer.Days
	return nil
}

// readSlots reads the free starts of the day `c.Day`. A class can have thousands of starts, and their list needs much
// memory. Therefore only a few lists of one business are read at the same time. If it takes too long until readSlots
// may read the list, readSlots sets `c.IsKnown` to false.
func (s *Shop) readSlots(ctx context.Context, b *Business, baseQuery url.Values, c *Calendar) error {
	release, err := s.acquirePlace(ctx, b)
	if err != nil {
		c.IsKnown = false
		return nil
	}
	defer release()
	query := maps.Clone(baseQuery)
	query.Set("date", c.Day.String())
	answer, err := readCalendar[publicapi.SlotList](ctx, s, b, "slots", query)
	if err != nil || answer == nil || !answer.Computed {
		c.IsKnown = false
		return err
	}
	c.Slots = slices.CompactFunc(answer.Slots, func(x, y Slot) bool { // the same start of several free members
		return x.Date == y.Date && x.Time == y.Time && equalIDs(x.ClassScheduleID, y.ClassScheduleID)
	})
	return nil
}

// acquirePlace waits until another large answer may be read for the business ([Places]). It returns a function
// that the caller must call after reading the answer. It returns an error if the wait takes too long.
func (s *Shop) acquirePlace(ctx context.Context, b *Business) (func(), error) {
	waitCtx, cancel := context.WithTimeout(ctx, s.Places.MaxWait)
	defer cancel()
	return s.Places.Businesses.Enter(waitCtx, b.Snapshot.Slug)
}

func equalIDs(x, y *uuid.UUID) bool { return x == y || x != nil && y != nil && *x == *y }

// readCalendar returns an answer of the availability service. If the service does not answer, readCalendar returns nil
// without an error.
func readCalendar[T any](ctx context.Context, s *Shop, b *Business, path string, query url.Values) (*T, error) {
	answer, err := read[T](ctx, s.Availability, b.Snapshot.Slug, path, query)
	if fault.Is(err, fault.PeerUnavailable) {
		return nil, nil
	}
	return answer, err
}

// findFirstFree returns the first date with a free start. The arguments `from` and `to` are the first and the last date
// to search. findFirstFree returns nil if no date has a free start.
func findFirstFree(free map[timespan.Date]int, from, to timespan.Date) *timespan.Date {
	for d := from; d <= to; d++ {
		if free[d] > 0 {
			return &d
		}
	}
	return nil
}

func firstOfMonth(d timespan.Date) timespan.Date {
	year, month, _ := d.YMD()
	return timespan.NewDate(year, month, 1)
}

// nextMonth returns the first day of the month after the month of the argument `first`.
func nextMonth(first timespan.Date) timespan.Date {
	year, month, _ := first.YMD()
	return timespan.NewDate(year, month+1, 1)
}

// PreviousMonth returns the first day of the previous month. It returns nil if no day of the previous month can be
// booked.
func (c *Calendar) PreviousMonth() *timespan.Date {
	if c.Month <= c.First {
		return nil
	}
	previous := firstOfMonth(c.Month - 1)
	return &previous
}

// NextMonth returns the first day of the next month. It returns nil if no day of the next month can be booked.
func (c *Calendar) NextMonth() *timespan.Date {
	next := nextMonth(c.Month)
	if next > c.Last {
		return nil
	}
	return &next
}

// NextFree returns the first free day after `c.Day` in the same month, or nil if no later day of the month is free.
func (c *Calendar) NextFree() *timespan.Date {
	return findFirstFree(c.Free, *c.Day+1, nextMonth(c.Month)-1)
}

// Nearest returns at most six free starts, in ascending order. The visitor can choose one of them if the chosen start
// is no longer free. The starts are those on the chosen day that are nearest to the chosen start. If no start is free
// on the chosen day, the starts are on the next free day. Nearest returns nil if availability is unknown.
func (s *Shop) Nearest(ctx context.Context, b *Business, a *Appointment) []Slot {
	const maxStarts = 6
	choice, at := *a, 0
	if a.Time != nil {
		at = int(*a.Time)
	}
	c, err := s.Times(ctx, b, &choice, nil)
	if err == nil && c.IsKnown && len(c.Slots) == 0 && a.Date != nil {
		next := nextMonth(c.Month)
		day := findFirstFree(c.Free, *a.Date, next)
		if choice.Date = day; day != nil {
			c, err = s.Times(ctx, b, &choice, nil)
		} else {
			c, err = s.Times(ctx, b, &choice, &next) // lists the starts of the first free day of the next month
		}
	}
	if err != nil || !c.IsKnown {
		return nil
	}
	if c.Day == nil {
		return nil
	}
	return nearestStarts(c.Slots, *c.Day, at, maxStarts)
}

// nearestStarts returns at most `limit` of the starts, in ascending order: those that are nearest to the time of day
// `at` on the date `day`, in minutes. A start after midnight has the next date.
func nearestStarts(slots []Slot, day timespan.Date, at, limit int) []Slot {
	minutes := func(s Slot) int { return int(s.Date-day)*timespan.MinutesPerDay + int(s.Time) }
	distance := func(s Slot) int { return max(minutes(s)-at, at-minutes(s)) }
	starts := slices.Clone(slots)
	slices.SortStableFunc(starts, func(x, y Slot) int { return distance(x) - distance(y) })
	starts = starts[:min(limit, len(starts))]
	slices.SortFunc(starts, func(x, y Slot) int { return minutes(x) - minutes(y) })
	return starts
}
