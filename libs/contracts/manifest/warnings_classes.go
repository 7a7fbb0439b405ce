package manifest

import (
	"cmp"
	"slices"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// sessionPart is a class session on one weekday. If the session lasts
// past midnight, there is a second sessionPart for the next day.
type sessionPart struct {
	at       *path
	from, to int            // minutes since midnight
	first    *timespan.Date // first and last date of the session; nil: no limit
	last     *timespan.Date
}

// sessionKey identifies a staff member and a weekday. Sessions with the same key may overlap.
type sessionKey struct {
	staff   Key
	weekday timespan.Weekday
}

// checkSessions warns of overlapping class sessions of one staff member, who can teach only one of them at a time.
func (w *warner) checkSessions(m *Manifest) {
	byDay := map[sessionKey][]sessionPart{}
	var days []sessionKey
	add := func(on sessionKey, g sessionPart) {
		if byDay[on] == nil {
			days = append(days, on)
		}
		byDay[on] = append(byDay[on], g)
	}
	for i := range m.Services {
		s := &m.Services[i]
		for j := range s.Classes {
			c := &s.Classes[j]
			if c.Staff == nil || !s.IsActive() {
				continue
			}
			at := (*path)(nil).field("services").item(i).field("classes").item(j)
			begins, from := int(c.Time), c.From
			to := c.To
			day := c.Weekday
			if c.Date != nil {
				day, from, to = new(timespan.Weekday(c.Date.Weekday())), c.Date, c.Date
			}
			add(sessionKey{*c.Staff, *day}, sessionPart{at, begins, begins + s.DurationMinutes, from, to})
			if over := begins + s.DurationMinutes - timespan.MinutesPerDay; over > 0 {
				add(sessionKey{*c.Staff, (*day + 1) % 7}, sessionPart{at, 0, over, nextDay(from), nextDay(to)})
			}
		}
	}
	reported := map[*path]bool{}
	for _, on := range days {
		w.checkConcurrent(on.staff, byDay[on], reported)
	}
}

func nextDay(d *timespan.Date) *timespan.Date {
	if d == nil {
		return nil
	}
	return new(*d + 1)
}

// checkConcurrent warns of class sessions that begin during another session of the same
// staff member. The argument `list` holds the sessions of the staff member on one weekday.
// The argument `reported` holds the sessions with a warning; each session gets only one.
func (w *warner) checkConcurrent(staff Key, list []sessionPart, reported map[*path]bool) {
	slices.SortStableFunc(list, func(a, b sessionPart) int { return cmp.Compare(a.from, b.from) })
	var going []sessionPart // sessions that last beyond the start of the current one
	for _, g := range list {
		going = slices.DeleteFunc(going, func(other sessionPart) bool { return other.to <= g.from })
		for _, other := range going {
			if !w.countComparison() {
				return
			}
			if other.at != g.at && !reported[g.at] && haveCommonDate(g, other) {
				reported[g.at] = true
				w.warn(g.at, "is given by %s, who gives %s at that time; name somebody else, or move one of them",
					staff, other.at)
			}
		}
		going = append(going, g)
	}
}

// haveCommonDate reports whether two class sessions on the same weekday may take place on the same date.
func haveCommonDate(a, b sessionPart) bool {
	return (a.first == nil || b.last == nil || *a.first <= *b.last) &&
		(b.first == nil || a.last == nil || *b.first <= *a.last)
}
