package tools

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/libs/zone"
)

// timeRange is the part of a date that from_time and to_time ask for: the first and the last start, both included.
// A last start before the first one is on the next date. The zero value asks for the whole date.
type timeRange struct {
	from, to timespan.TimeOfDay
	given    bool
}

// timeRange reads from_time and to_time; one that is left out is the beginning or the end of the date.
func (a arguments) timeRange() (timeRange, error) {
	r := timeRange{to: 2 * timespan.MinutesPerDay}
	for name, into := range map[string]*timespan.TimeOfDay{"from_time": &r.from, "to_time": &r.to} {
		text, err := a.text(name)
		if err != nil {
			return timeRange{}, err
		}
		if text == "" {
			continue
		}
		if *into, err = timespan.ParseTimeOfDay(text); err != nil {
			return timeRange{}, request.Invalid("%s: %s is not a time; send HH:MM, such as 17:30.", name, request.Quoted(text))
		}
		r.given = true
	}
	if r.to < r.from {
		r.to += timespan.MinutesPerDay
	}
	return r, nil
}

// filter returns the starts of a date that are in the range, in their order.
func (r timeRange) filter(slots []slot, date string) []slot {
	if !r.given {
		return slots
	}
	return slices.DeleteFunc(slots, func(s slot) bool {
		start := s.start(date)
		return start < r.from || start > r.to
	})
}

// String returns the range as it stands in a text, with a space before it; "" for the whole date.
func (r timeRange) String() string {
	switch {
	case !r.given:
		return ""
	case r.to >= 2*timespan.MinutesPerDay:
		return fmt.Sprintf(" from %s on", r.from)
	}
	return fmt.Sprintf(" from %s to %s", r.from, r.to%timespan.MinutesPerDay)
}

// start returns the minutes from the beginning of a date to the slot. A slot after midnight is on the next date.
func (s slot) start(date string) timespan.TimeOfDay {
	t, _ := timespan.ParseTimeOfDay(s.Time) // availability's own
	if s.Date != date {
		t += timespan.MinutesPerDay
	}
	return t
}

// maxWindow is how many days /available-dates takes, with both ends (interface.md §8).
const maxWindow = 62

// dates is the answer of /available-dates.
type dates struct {
	Days     map[string]int `json:"days"`
	Computed bool           `json:"computed"`
	Timezone string         `json:"timezone"`
}

// first returns the earliest date on which something is free; "" if there is none.
func (d dates) first() string {
	for _, date := range slices.Sorted(maps.Keys(d.Days)) {
		if d.Days[date] > 0 {
			return date
		}
	}
	return ""
}

// nothingFree returns sentences on why a date has no free start, and the next date that has one within [maxWindow]
// days. Both are "" if the calendars cannot be read: an unknown reason is not a reason.
func (b *Toolbox) nothingFree(ctx context.Context, slug, timezone string, query url.Values) (string, string) {
	loc, errZone := zone.Load(timezone)
	date, errDate := time.Parse(time.DateOnly, query.Get("date"))
	if errZone != nil || errDate != nil {
		return "", ""
	}
	today, _ := time.Parse(time.DateOnly, b.Clock.Now().In(loc).Format(time.DateOnly))
	text, start := "", date
	if isPast := date.Before(today); isPast {
		text, start = " That date is in the past.", today
	}
	window := maps.Clone(query)
	window.Del("date")
	window.Set("start", start.Format(time.DateOnly))
	window.Set("end", start.AddDate(0, 0, maxWindow-1).Format(time.DateOnly))
	var days dates
	if err := b.Availability.Read(ctx, slug, "available-dates", window, &days); err != nil || !days.Computed {
		return text, ""
	}
	if _, listed := days.Days[query.Get("date")]; !listed && text == "" {
		text = " The business does not take bookings that far ahead yet."
	}
	if next := days.first(); next != "" {
		return text + fmt.Sprintf(" The next date with a free start is %s (%d free).", withWeekday(next), days.Days[next]), next
	}
	return text + fmt.Sprintf(" No date of the %d days from %s on has a free start.", maxWindow, withWeekday(window.Get("start"))), ""
}
