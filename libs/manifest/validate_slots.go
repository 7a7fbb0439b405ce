package manifest

import (
	"encoding/json"
	"time"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// MaxSlotsBytes bounds what `/slots` can answer for one date of one service, in bytes. A business of 300 people who each
// work twelve hours in steps of five minutes stays below half of it.
const MaxSlotsBytes = 16 << 20

// The bytes of a slot in an answer, without the member's name: its times, date and ids; and those of a class session's further fields.
const (
	slotBytes    = 140
	sessionBytes = 80
)

// slotBound bounds how many starts there are on a date, and how large the answer is that lists them.
type slotBound struct {
	business day
	members  map[Key]member
	interval int // minutes, the business's
}

// day is the most that is worked on any one date.
type day struct{ minutes, windows int }

// member is an active member: the longest day, and how long its name is in an answer.
type member struct {
	day
	name int
}

func newSlotBound(m *Manifest) slotBound {
	business := longest(&m.Hours, m.Overrides)
	b := slotBound{business: business, members: make(map[Key]member, len(m.Staff)), interval: *m.BookingSettings().SlotIntervalMinutes}
	for i := range m.Staff {
		s := &m.Staff[i]
		if !s.IsActive() {
			continue
		}
		works := business
		if s.Hours != nil {
			works = longest(s.Hours, nil)
		}
		name, err := json.Marshal(s.Name)
		if err != nil {
			continue // never: every text has a JSON form
		}
		b.members[s.Key] = member{day: works.or(longest(&WeekHours{}, s.Overrides)), name: len(name)}
	}
	return b
}

// longest is the most minutes and windows that begin on any weekday or overridden date.
func longest(week *WeekHours, overrides []DayOverride) day {
	var most day
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		most = most.or(dayOf(week.On(weekday)))
	}
	for i := range overrides {
		most = most.or(dayOf(overrides[i].Hours))
	}
	return most
}

// dayOf adds windows up; overlapping ones are one window, and none ends after the next day.
func dayOf(windows []timespan.Window) day {
	d := day{windows: len(windows)}
	for _, w := range windows {
		d.minutes += int(w.To - w.From)
	}
	d.minutes = min(d.minutes, 2*timespan.MinutesPerDay)
	return d
}

func (d day) or(e day) day { return day{max(d.minutes, e.minutes), max(d.windows, e.windows)} }

// starts is how many starts there are at most.
func (d day) starts(interval int) int { return d.minutes/max(1, interval) + d.windows }

// listing is how many slots a service has on a date at most, of how many members, and how many bytes list them.
type listing struct{ slots, members, bytes int }

// of returns what /slots would list of a service on a date at most.
func (b slotBound) of(s *Service) listing {
	if len(s.Classes) > 0 {
		return b.sessions(s)
	}
	interval := or(s.SlotIntervalMinutes, b.interval)
	if len(s.Staff) == 0 {
		n := b.business.starts(interval)
		return listing{slots: n, members: 1, bytes: n * slotBytes}
	}
	var all listing
	for _, key := range s.Staff {
		m, active := b.members[key]
		if !active {
			continue
		}
		n := m.starts(interval)
		all = listing{all.slots + n, all.members + 1, all.bytes + n*(slotBytes+m.name)}
	}
	return all
}

// sessions is [slotBound.of] for a class: every session may happen on one date.
func (b slotBound) sessions(s *Service) listing {
	all := listing{slots: len(s.Classes)}
	for i := range s.Classes {
		all.bytes += slotBytes + sessionBytes
		if given := s.Classes[i].Staff; given != nil {
			all.bytes += b.members[*given].name
		}
	}
	return all
}

// slots refuses a service whose slots of one date would make an answer that is too large.
func (v *validator) slots(at *path, s *Service, b slotBound) {
	most := b.of(s)
	switch {
	case most.bytes <= MaxSlotsBytes:
	case len(s.Classes) > 0:
		v.problem(at.field("classes"), "makes up to %d sessions a date, which /slots would list in %d MB; at most %d MB are listed: write fewer",
			most.slots, most.bytes>>20, MaxSlotsBytes>>20)
	default:
		v.problem(at, "has up to %d slots a date (%d members × their longest day / %d minutes), which /slots would list in %d MB; "+
			"at most %d MB are listed: write a longer slot_interval_minutes, fewer staff or shorter names",
			most.slots, most.members, or(s.SlotIntervalMinutes, b.interval), most.bytes>>20, MaxSlotsBytes>>20)
	}
}
