package usecase

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Slot is a free start.
type Slot struct {
	Date      timespan.Date      `json:"date"`
	Time      timespan.TimeOfDay `json:"time"`
	End       timespan.TimeOfDay `json:"endTime"`
	Remaining *int               `json:"remainingCapacity"` // seats of a class
	SessionID *uuid.UUID         `json:"classScheduleId"`
}

// Calendar is a month of free days, and the free starts of the day that is shown.
type Calendar struct {
	Known bool          // false: what is free could not be read; then nothing below says anything
	Month timespan.Date // its first day
	Free  map[timespan.Date]int
	// Day is the one whose starts are shown: the one chosen, else the first free one of the month; nil where there is none.
	Day   *timespan.Date
	Slots []Slot
	// First and Last are the days between which can be booked at all.
	First, Last timespan.Date
}

const window = 62 // days that availability computes at once

// Times returns the month and the day that the visitor looks at: month where it is given, else that of the chosen date, else that of
// the next free day. A date or a month that is over is none. What cannot be read is said by Known, never as full. Faults: service_not_found; invalid_parameter.
func (s *Shop) Times(ctx context.Context, b *Business, a *Appointment, month *timespan.Date) (*Calendar, error) {
	return s.times(ctx, b, a.calendar(), a.Date, month)
}

// times is [Shop.Times] of what a query of the calendars asks for, with the date that was chosen.
func (s *Shop) times(ctx context.Context, b *Business, asked url.Values, date, month *timespan.Date) (*Calendar, error) {
	c := &Calendar{First: b.Today(), Last: b.Today() + timespan.Date(b.Offer.Bookings.AdvanceDays)}
	from, to := c.First, c.First+window-1
	if date != nil && *date < c.First { // the page was open past midnight
		date = nil
	}
	if month != nil && nextMonth(*month) <= c.First {
		month = nil
	}
	c.Day = date
	if month == nil {
		month = date
	}
	if month != nil {
		c.Month = firstOf(*month)
		from, to = max(c.First, c.Month), min(c.Last, nextMonth(c.Month)-1)
	}
	if err := s.days(ctx, b, asked, c, from, to); err != nil || !c.Known {
		return c, err
	}
	if c.Day == nil || firstOf(*c.Day) != c.Month && c.Month != 0 {
		c.Day = firstFree(c.Free, from, to)
	}
	if c.Month == 0 && c.Day != nil {
		c.Month = firstOf(*c.Day)
	} else if c.Month == 0 {
		c.Month = firstOf(c.First)
	}
	if c.Day == nil {
		return c, nil
	}
	return c, s.slots(ctx, b, asked, c)
}

func (s *Shop) days(ctx context.Context, b *Business, asked url.Values, c *Calendar, from, to timespan.Date) error {
	if to < from {
		c.Known, c.Free = true, map[timespan.Date]int{}
		return nil
	}
	query := maps.Clone(asked)
	query.Set("start", from.String())
	query.Set("end", to.String())
	answer, err := calendarOf[struct {
		Days     map[timespan.Date]int `json:"days"`
		Computed bool                  `json:"computed"`
	}](ctx, s, b, "available-dates", query)
	if err != nil || answer == nil {
		return err
	}
	c.Known, c.Free = answer.Computed, answer.Days
	return nil
}

// slots reads the free starts of a day in one of the business's places: a class may have thousands, which are read into memory whole. Where
// there is no place for it, what is free is unknown.
func (s *Shop) slots(ctx context.Context, b *Business, asked url.Values, c *Calendar) error {
	leave, err := s.place(ctx, b)
	if err != nil {
		c.Known = false
		return nil
	}
	defer leave()
	query := maps.Clone(asked)
	query.Set("date", c.Day.String())
	answer, err := calendarOf[struct {
		Slots    []Slot `json:"slots"`
		Computed bool   `json:"computed"`
	}](ctx, s, b, "slots", query)
	if err != nil || answer == nil || !answer.Computed {
		c.Known = false
		return err
	}
	c.Slots = slices.CompactFunc(answer.Slots, func(x, y Slot) bool { // several members who are free at once are one start
		return x.Date == y.Date && x.Time == y.Time && same(x.SessionID, y.SessionID)
	})
	return nil
}

// place waits for one of the business's places; an error where none is left in time.
func (s *Shop) place(ctx context.Context, b *Business) (func(), error) {
	soon, cancel := context.WithTimeout(ctx, s.Places.Within)
	defer cancel()
	return s.Places.Each.Enter(soon, b.Offer.Slug)
}

func same(x, y *uuid.UUID) bool { return x == y || x != nil && y != nil && *x == *y }

// calendarOf asks availability; nil where it does not answer.
func calendarOf[T any](ctx context.Context, s *Shop, b *Business, path string, query url.Values) (*T, error) {
	answer, err := read[T](ctx, s.Availability, b.Offer.Slug, path, query)
	if fault.Is(err, fault.PeerUnavailable) {
		return nil, nil
	}
	return answer, err
}

func firstFree(free map[timespan.Date]int, from, to timespan.Date) *timespan.Date {
	for d := from; d <= to; d++ {
		if free[d] > 0 {
			return &d
		}
	}
	return nil
}

func firstOf(d timespan.Date) timespan.Date {
	year, month, _ := d.YMD()
	return timespan.NewDate(year, month, 1)
}

func nextMonth(first timespan.Date) timespan.Date {
	year, month, _ := first.YMD()
	return timespan.NewDate(year, month+1, 1)
}

// Before and After are the first days of the months beside, nil where nothing can be booked in them.
func (c *Calendar) Before() *timespan.Date {
	if c.Month <= c.First {
		return nil
	}
	before := firstOf(c.Month - 1)
	return &before
}

// After is the month after.
func (c *Calendar) After() *timespan.Date {
	after := nextMonth(c.Month)
	if after > c.Last {
		return nil
	}
	return &after
}

// NextFree is the first day with free starts after the one that is shown, in its month; nil where there is none.
func (c *Calendar) NextFree() *timespan.Date {
	return firstFree(c.Free, *c.Day+1, nextMonth(c.Month)-1)
}

// Nearest are the free starts nearest to one that was taken, on its day or the next free one, in their order; at most six. None where
// they cannot be read.
func (s *Shop) Nearest(ctx context.Context, b *Business, a *Appointment) []Slot {
	const most = 6
	wanted, at := *a, 0
	if a.Time != nil {
		at = int(*a.Time)
	}
	c, err := s.Times(ctx, b, &wanted, nil)
	if err == nil && c.Known && len(c.Slots) == 0 && a.Date != nil {
		next := nextMonth(c.Month)
		day := firstFree(c.Free, *a.Date, next)
		if wanted.Date = day; day != nil {
			c, err = s.Times(ctx, b, &wanted, nil)
		} else {
			c, err = s.Times(ctx, b, &wanted, &next) // whose first free day it shows
		}
	}
	if err != nil || !c.Known {
		return nil
	}
	near := slices.Clone(c.Slots)
	slices.SortStableFunc(near, func(x, y Slot) int { return distance(x, at) - distance(y, at) })
	near = near[:min(most, len(near))]
	slices.SortFunc(near, func(x, y Slot) int { return int(x.Date-y.Date)*timespan.MinutesPerDay + int(x.Time-y.Time) })
	return near
}

func distance(s Slot, at int) int { return max(int(s.Time)-at, at-int(s.Time)) }
