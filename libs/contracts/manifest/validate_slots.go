package manifest

import (
	"encoding/json"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// MaxSlotsBytes is the maximal size, in bytes, of the answer of `/slots` for one date of one service. It is more than
// twice the answer of a business with 300 staff members who work twelve hours each, with starts every five minutes.
const MaxSlotsBytes = 16 << 20

// Sizes in an answer, in bytes: a slot's times, date and ids without the member's name, and a class
// session's further fields.
const (
	slotBytes    = 140
	sessionBytes = 80
)

// slotBound computes the maximum number of starts on a date, and the maximum size of the answer that lists them.
type slotBound struct {
	business day
	members  map[Key]member
	interval int      // of the business, in minutes
	finest   *Service // the service with the shortest interval that can precede one with staff; nil: none
}

// day is the maximum number of open minutes and of windows on any one date.
type day struct{ minutes, windows int }

// member is an active staff member: the longest day, and the size of the name in an answer in bytes.
type member struct {
	day
	name int
}

func newSlotBound(m *Manifest) slotBound {
	business := longestDay(&m.Hours, m.Overrides)
	b := slotBound{business: business, members: make(map[Key]member, len(m.Staff)),
		interval: *m.BookingSettings().SlotIntervalMinutes}
	for i := range m.Staff {
		s := &m.Staff[i]
		if !s.IsActive() {
			continue
		}
		longest := business
		if s.Hours != nil {
			longest = longestDay(s.Hours, nil)
		}
		if s.Hours != nil || len(s.Overrides) > 0 {
			longest = longest.maximum(longestDay(&WeekHours{}, s.Overrides))
			// windows of the business may split it further, on the date and the next
			longest.windows += 2 * business.windows
		}
		name, err := json.Marshal(s.Name)
		if err != nil {
			continue // never: every text has a JSON form
		}
		b.members[s.Key] = member{day: longest, name: len(name)}
	}
	for i := range m.Services {
		s := &m.Services[i]
		if b.isCombinable(s) && (b.finest == nil || b.findInterval(s) < b.findInterval(b.finest)) {
			b.finest = s
		}
	}
	return b
}

// isCombinable reports whether a service is active, needs no staff and is not a class. Such services can
// be combined with others.
func (slotBound) isCombinable(s *Service) bool {
	return s.IsActive() && len(s.Staff) == 0 && len(s.Classes) == 0
}

// findInterval returns the step of a service's starts, in minutes.
func (b slotBound) findInterval(s *Service) int { return valueOr(s.SlotIntervalMinutes, b.interval) }

// longestDay returns the maximum of minutes and of windows that begin on any weekday or overridden date.
func longestDay(week *WeekHours, overrides []DayOverride) day {
	var most day
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		most = most.maximum(sumWindows(week.On(weekday)))
	}
	for i := range overrides {
		most = most.maximum(sumWindows(overrides[i].Hours))
	}
	return most
}

// sumWindows returns the sum of the windows of a day. Overlapping windows count
// as one. A window ends on the next day at the latest, which bounds the sum.
func sumWindows(windows []timespan.Window) day {
	d := day{windows: len(windows)}
	for _, w := range windows {
		d.minutes += int(w.To - w.From)
	}
	d.minutes = min(d.minutes, 2*timespan.MinutesPerDay)
	return d
}

func (d day) maximum(e day) day { return day{max(d.minutes, e.minutes), max(d.windows, e.windows)} }

// countStarts returns the maximum number of starts at the given interval in minutes.
func (d day) countStarts(interval int) int { return d.minutes/max(1, interval) + d.windows }

// listing is the maximum that `/slots` lists for a service on one date: slots, members among them, and bytes.
type listing struct{ slots, members, bytes int }

// maxListing returns the maximum listing of a service on a date.
func (b slotBound) maxListing(s *Service) listing {
	if len(s.Classes) > 0 {
		return b.sumSessions(s)
	}
	interval := b.findInterval(s)
	if len(s.Staff) == 0 {
		n := b.business.countStarts(interval)
		return listing{slots: n, members: 1, bytes: n * slotBytes}
	}
	return b.sumMembers(s, func(m member) int { return m.countStarts(interval) })
}

// maxCombinedListing is [slotBound.maxListing] for an appointment that begins with [slotBound.finest] and continues
// with s, which has staff. Each member of s then has the starts of the first service within the hours of the business.
//
// An appointment that begins with s has at most the starts of s alone, because only some members can perform
// the services after s.
func (b slotBound) maxCombinedListing(s *Service) listing {
	if b.finest == nil || !s.IsActive() || len(s.Classes) > 0 {
		return listing{}
	}
	n := b.business.countStarts(b.findInterval(b.finest))
	return b.sumMembers(s, func(member) int { return n })
}

// sumMembers adds up the starts of a service's active members.
func (b slotBound) sumMembers(s *Service, starts func(member) int) listing {
	var all listing
	for _, key := range s.Staff {
		m, active := b.members[key]
		if !active {
			continue
		}
		n := starts(m)
		all = listing{all.slots + n, all.members + 1, all.bytes + n*(slotBytes+m.name)}
	}
	return all
}

// sumSessions is [slotBound.maxListing] for a class. All its sessions may happen on one date.
func (b slotBound) sumSessions(s *Service) listing {
	all := listing{slots: len(s.Classes)}
	for i := range s.Classes {
		all.bytes += slotBytes + sessionBytes
		if staff := s.Classes[i].Staff; staff != nil {
			all.bytes += b.members[*staff].name
		}
	}
	return all
}

// checkSlots rejects a service if the answer with its slots of one date would be too large.
func (v *validator) checkSlots(at *path, s *Service, b slotBound) {
	most, after := b.maxListing(s), b.maxCombinedListing(s)
	switch {
	case most.bytes <= MaxSlotsBytes && after.bytes <= MaxSlotsBytes:
	case most.bytes <= MaxSlotsBytes:
		first := b.finest
		v.addProblem(at, "has up to %d slots a date where %s, which needs no staff, comes before it (%d members × the "+
			"business's longest day / %d minutes), "+
			"which /slots would list in %d MB; at most %d MB are listed: write a longer slot_interval_minutes for "+
			"%[2]s, fewer staff or shorter names",
			after.slots, quote(string(first.Key)), after.members, b.findInterval(first), after.bytes>>20,
			MaxSlotsBytes>>20).
			setCode(CodeTooManyStarts)
	case len(s.Classes) > 0:
		v.addProblem(at.field("classes"),
			"makes up to %d sessions a date, which /slots would list in %d MB; at most %d MB are listed: write fewer",
			most.slots, most.bytes>>20, MaxSlotsBytes>>20).setCode(CodeTooManyStarts)
	default:
		v.addProblem(at, "has up to %d slots a date (%d members × their longest day / %d minutes), which /slots would "+
			"list in %d MB; "+
			"at most %d MB are listed: write a longer slot_interval_minutes, fewer staff or shorter names",
			most.slots, most.members, b.findInterval(s), most.bytes>>20, MaxSlotsBytes>>20).setCode(CodeTooManyStarts)
	}
}
