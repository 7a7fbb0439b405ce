package manifest

import (
	"encoding/json"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// MaxSlotsBytes is the maximal size of the response of GET /slots for one date of
// one service, in bytes. The limit is more than twice the size for a business with
// 300 staff members who work twelve hours each, with starts every five minutes.
const MaxSlotsBytes = 16 << 20

// The sizes of parts of the response of GET /slots, in bytes. slotBytes is the size of a slot without
// the name of the staff member. sessionBytes is the size of the additional fields of a class session.
const (
	slotBytes    = 140
	sessionBytes = 80
)

// slotBound computes the maximal number of starts on one date, and the maximal size of the response that lists them.
type slotBound struct {
	manifest *Manifest
	business day // the longest day of the business and of its locations
	members  map[Key]member
	interval int // slot interval of the business, in minutes
	// The field `finest` is the combinable service with the shortest slot interval, or nil if there
	// is none. In an appointment, a combinable service can precede a service with staff.
	finest *Service
}

// day holds the maximal number of open minutes and the maximal number of opening windows on any date.
type day struct{ minutes, windows int }

// member is an active staff member, with the member's longest day
// and the size of the member's name in the response, in bytes.
type member struct {
	day
	name int
}

func newSlotBound(m *Manifest) slotBound {
	business := longestDay(&m.Hours, m.Overrides)
	for i := range m.Locations {
		l := &m.Locations[i]
		business = business.maximum(longestDay(new(valueOr(l.Hours, WeekHours{})), l.Overrides))
	}
	b := slotBound{manifest: m, business: business, members: make(map[Key]member, len(m.Staff)),
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
		for _, hours := range s.At {
			longest = longest.maximum(longestDay(&hours, nil))
		}
		if s.Hours != nil || len(s.At) > 0 || len(s.Overrides) > 0 {
			longest = longest.maximum(longestDay(&WeekHours{}, s.Overrides))
			// windows of the business on this date and the next may split the member's windows further
			longest.windows += 2 * business.windows
		}
		name, err := json.Marshal(s.Name)
		if err != nil {
			continue // cannot happen: every text can be encoded as JSON
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

// isCombinable reports whether a service is active, needs no staff and
// is not a class. An appointment can combine such a service with others.
func (slotBound) isCombinable(s *Service) bool {
	return s.IsActive() && len(s.Staff) == 0 && len(s.Classes) == 0
}

// findInterval returns the slot interval of a service, in minutes.
func (b slotBound) findInterval(s *Service) int { return valueOr(s.SlotIntervalMinutes, b.interval) }

// longestDay returns the maximal number of minutes and the maximal
// number of windows that begin on any weekday or overridden date.
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

// sumWindows returns the number of windows of a day and an upper limit of their total minutes. A window
// ends on the next day at the latest. If windows overlap, they cover at most the minutes of two days.
func sumWindows(windows []timespan.Window) day {
	d := day{windows: len(windows)}
	for _, w := range windows {
		d.minutes += int(w.To - w.From)
	}
	d.minutes = min(d.minutes, 2*timespan.MinutesPerDay)
	return d
}

func (d day) maximum(e day) day { return day{max(d.minutes, e.minutes), max(d.windows, e.windows)} }

// countStarts returns the maximal number of starts with the given slot interval, in minutes. The argument
// `locations` is the number of locations. Each location may have other starts, but at most one in each minute.
func (d day) countStarts(interval, locations int) int {
	starts := d.minutes/max(1, interval) + d.windows
	if locations > 1 {
		return min(starts*locations, max(starts, 2*timespan.MinutesPerDay))
	}
	return starts
}

// countLocations returns the number of locations at which a service is offered, and at least 1.
func (b slotBound) countLocations(s *Service) int { return max(1, len(b.manifest.LocationsOf(s))) }

// listing is the size of the response of GET /slots for a service on one date: the
// number of slots, the number of their staff members, and the number of bytes.
type listing struct{ slots, members, bytes int }

// maxListing returns the maximal size of the response for a service on any date.
func (b slotBound) maxListing(s *Service) listing {
	if len(s.Classes) > 0 {
		return b.sumSessions(s)
	}
	interval := b.findInterval(s)
	if len(s.Staff) == 0 {
		n := b.business.countStarts(interval, b.countLocations(s))
		return listing{slots: n, members: 1, bytes: n * slotBytes}
	}
	locations := b.countLocations(s)
	return b.sumMembers(s, func(m member) int { return m.countStarts(interval, locations) })
}

// maxCombinedListing is [slotBound.maxListing] for an appointment that begins with
// [slotBound.finest] and continues with the service `s`, which has staff. Each staff
// member of `s` then has the starts of the first service within the business hours.
//
// An appointment that begins with `s` needs no function of its own. Such an appointment has at most
// the starts of `s` alone, because only some staff members can perform the services after `s`.
func (b slotBound) maxCombinedListing(s *Service) listing {
	if b.finest == nil || !s.IsActive() || len(s.Classes) > 0 {
		return listing{}
	}
	n := b.business.countStarts(b.findInterval(b.finest), b.countLocations(s))
	return b.sumMembers(s, func(member) int { return n })
}

// sumMembers returns the sum of the starts of all active staff members of a
// service. The argument `starts` returns the number of starts of one staff member.
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

// sumSessions is [slotBound.maxListing] for a class. All sessions of the class may take place on the same date.
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

// checkSlots reports a service if the response of GET /slots for one date would be larger than [MaxSlotsBytes].
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
