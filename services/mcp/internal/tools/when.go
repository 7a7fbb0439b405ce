package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// timeRange is a range of start times on a date. Its first and last time are the arguments
// `from_time` and `to_time` of the tool, both included. If `to_time` is before `from_time`, the
// range ends on the next date. If the field `isGiven` is false, the range is the whole date.
type timeRange struct {
	from, to timespan.TimeOfDay
	isGiven  bool
}

// timeRange reads the arguments `from_time` and `to_time`. An argument that is left out does not limit the range.
func (a arguments) timeRange() (timeRange, error) {
	r := timeRange{to: 2 * timespan.MinutesPerDay}
	for name, target := range map[string]*timespan.TimeOfDay{"from_time": &r.from, "to_time": &r.to} {
		text, err := a.text(name)
		if err != nil {
			return timeRange{}, err
		}
		if text == "" {
			continue
		}
		if *target, err = timespan.ParseTimeOfDay(text); err != nil {
			return timeRange{}, request.Invalid("%s: %s is not a time; send HH:MM, such as 17:30.", name,
				request.Quote(text))
		}
		r.isGiven = true
	}
	if r.to < r.from {
		r.to += timespan.MinutesPerDay
	}
	return r, nil
}

// filter returns those slots of a date whose start is in the range. It keeps their order.
func (r timeRange) filter(slots []slot, date timespan.Date) []slot {
	if !r.isGiven {
		return slots
	}
	return slices.DeleteFunc(slots, func(s slot) bool {
		start := s.start(date)
		return start < r.from || start > r.to
	})
}

// String returns the range as words, with a space before them. It returns "" for the whole date.
func (r timeRange) String() string {
	switch {
	case !r.isGiven:
		return ""
	case r.to >= 2*timespan.MinutesPerDay:
		return fmt.Sprintf(" from %s on", r.from)
	}
	return fmt.Sprintf(" from %s to %s", r.from, r.to%timespan.MinutesPerDay)
}

// start returns the number of minutes from the beginning of the date
// to the start of the slot. A slot after midnight has the next date.
func (s slot) start(date timespan.Date) timespan.TimeOfDay {
	if s.Date != date {
		return s.Time + timespan.MinutesPerDay
	}
	return s.Time
}

// maxWindow is the maximum number of days in one request for
// /available-dates, including the first and the last day (interface.md §8).
const maxWindow = 62

// findFirstFree returns the earliest date with a free start. It returns "" if there is no such date.
func findFirstFree(days map[timespan.Date]int) string {
	for _, date := range slices.Sorted(maps.Keys(days)) {
		if days[date] > 0 {
			return date.String()
		}
	}
	return ""
}

// noStartReason explains why a date or a window of dates has no free start.
type noStartReason struct {
	text     string // sentences, each after a space; "" if no explanation could be read
	reason   string // name of the rule in [reasons]; "" if unknown, or if dates have different rules
	nextDate string // the next date with a free start within [maxWindow] days, or ""
}

// reasons contains each rule that can cause a date to have no free starts, with texts about the reason:
// its name and a sentence. In a summary of several dates, the text `of` follows the number of dates.
var reasons = map[string]struct{ name, of, sentence string }{
	availability.RulePast: {"past", "over", "That date is over, or its last start is."},
	availability.RuleAdvanceLimit: {"beyond_advance_limit", "further ahead than bookings are taken",
		"The business does not take bookings that far ahead yet."},
	availability.RuleClosed: {"closed", "closed",
		"The business is closed then, or nobody who performs the services works long enough."},
	availability.RuleNoSession: {"no_session", "without a session of the class",
		"The class has no session on that date."},
	availability.RuleNotice: {"too_soon", "too soon to book",
		"What is left of that date is too soon to be booked."},
	availability.RuleNotPerformed: {"not_performed", "without a member who performs the services",
		"No member performs the services; call list_staff for who does."},
	availability.RuleBooking: {"sold_out", "sold out", "That date is sold out."},
}

// explainNoStart returns the reason why a date or a window of dates has no free starts, and the
// next date with a free start. If one of the two cannot be read, the result does not contain it.
func (b *Toolbox) explainNoStart(ctx context.Context, slug, timezone string, query url.Values) noStartReason {
	from, to := cmp.Or(query.Get("date"), query.Get("start")), cmp.Or(query.Get("date"), query.Get("end"))
	loc, err := zone.Load(timezone)
	if err != nil {
		return noStartReason{}
	}
	window := maps.Clone(query)
	window.Del("date")
	window.Set("start", from)
	window.Set("end", to)
	var why noStartReason
	var rules availability.NoStarts
	if err := b.Availability.Read(ctx, slug, "no-starts", window, &rules); err == nil {
		why.reason, why.text = explainRules(slices.Collect(maps.Values(rules.Rules)))
	}
	after, err := time.Parse(time.DateOnly, to)
	if err != nil {
		return why
	}
	if today, _ := time.Parse(time.DateOnly, b.Clock.Now().In(loc).Format(time.DateOnly)); after.Before(today) {
		after = today
	}
	window.Set("start", after.Format(time.DateOnly))
	window.Set("end", after.AddDate(0, 0, maxWindow-1).Format(time.DateOnly))
	var calendar publicapi.AvailableDates
	if err := b.Availability.Read(ctx, slug, "available-dates", window, &calendar); err != nil || !calendar.Computed {
		return why
	}
	if why.nextDate = findFirstFree(calendar.Days); why.nextDate != "" {
		next, _ := timespan.ParseDate(why.nextDate)
		why.text += fmt.Sprintf(" The next date with a free start is %s (%d free).", withWeekday(why.nextDate),
			calendar.Days[next])
		return why
	}
	why.text += fmt.Sprintf(" No date of the %d days from %s on has a free start.", maxWindow,
		withWeekday(window.Get("start")))
	return why
}

// explainRules returns the name of the reason if all dates have the same one, otherwise "". It
// also returns all reasons as a sentence. The argument `rules` contains the rule of each date.
func explainRules(rules []string) (string, string) {
	slices.Sort(rules)
	shared := slices.Compact(slices.Clone(rules))
	if len(shared) == 1 && len(rules) == 1 {
		return reasons[shared[0]].name, " " + reasons[shared[0]].sentence
	}
	var parts []string
	for _, rule := range shared {
		first, _ := slices.BinarySearch(rules, rule)
		last, _ := slices.BinarySearch(rules, rule+"\x00")
		parts = append(parts, fmt.Sprintf("%d %s", last-first, reasons[rule].of))
	}
	if len(parts) == 0 {
		return "", ""
	}
	text := fmt.Sprintf(" Of its %d dates are %s.", len(rules), strings.Join(parts, ", "))
	if len(shared) > 1 {
		return "", text
	}
	return reasons[shared[0]].name, text
}
