package slot

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// happens reports whether session c of class v takes place on date d: on every such weekday in [from, to] or on its one
// date, not where the business's override of the date is [], nor where blocked time overlaps it, nor where its member
// is inactive.
func (o *oracle) happens(v *catalog.Service, c *catalog.ClassSession, d timespan.Date) bool {
	if c.Date != nil && *c.Date != d || c.Weekday != nil && *c.Weekday != d.Weekday() {
		return false
	}
	if c.From != nil && d < *c.From || c.To != nil && d > *c.To {
		return false
	}
	for _, v := range o.offer.Overrides {
		if v.Date == d && len(v.Hours) == 0 {
			return false
		}
	}
	blocked := o.blocked
	if c.StaffID != nil {
		if s := o.member(*c.StaffID); s == nil || !s.Active {
			return false
		}
		blocked = o.blockedAt(*c.StaffID)
	}
	start := o.minuteOf(d, c.Time)
	return !slices.Contains(blocked[start:start+v.DurationMinutes], true)
}

func (o *oracle) member(id uuid.UUID) *catalog.Staff {
	for i := range o.offer.Staff {
		if o.offer.Staff[i].ID == id {
			return &o.offer.Staff[i]
		}
	}
	return nil
}

// paintSessions paints each occurrence of a session with the buffers of its class.
func (o *oracle) paintSessions(m minutes, v *catalog.Service, c *catalog.ClassSession) {
	for _, d := range o.dates() {
		if o.happens(v, c, d) {
			start := o.minuteOf(d, c.Time)
			o.paint(m, start-v.BufferBeforeMinutes, start+v.DurationMinutes+v.BufferAfterMinutes)
		}
	}
}

// seats are how many are left of session c at minute i.
func (o *oracle) seats(c *catalog.ClassSession, i int) int {
	left := c.Capacity
	for _, s := range o.occupied.Seats {
		if s.SessionID == c.ID && o.minuteAt(s.StartsAt) == i {
			left -= s.Taken
		}
	}
	return left
}

// held reports whether an appointment of a member overlaps the minutes from..to. Guests of classes do not count.
func (o *oracle) held(member uuid.UUID, from, to int) bool {
	for _, b := range o.occupied.Busy {
		for i := 0; b.ID == member && b.Lane == 0 && !b.Class && i < len(b.Edges); i += 2 {
			if o.minuteAt(b.Edges[i]) < to && from < o.minuteAt(b.Edges[i+1]) {
				return true
			}
		}
	}
	return false
}

// asksFor reports whether the question is about session c at all.
func (o *oracle) asksFor(c *catalog.ClassSession) bool {
	q := o.question
	if q.SessionID != nil && *q.SessionID != c.ID {
		return false
	}
	return q.StaffID == nil || c.StaffID != nil && *c.StaffID == *q.StaffID
}

// sessions lists those of the class on date d: by start, then the staff's order and name, then the session's key; those
// without staff come last.
func (o *oracle) sessions(d timespan.Date) []Slot {
	var slots []Slot
	class := o.services[0]
	for k := range class.Classes {
		c := &class.Classes[k]
		if !o.asksFor(c) || !o.happens(class, c, d) {
			continue
		}
		i := o.minuteOf(d, c.Time)
		seats := o.seats(c, i)
		if seats <= 0 || d < o.today() || !o.inTime(d, i) {
			continue
		}
		slot := o.slot(nil, d, i)
		slot.Session, slot.Remaining = c, int32(seats)
		if c.StaffID != nil {
			slot.Staff = o.member(*c.StaffID)
			if o.held(*c.StaffID, i-class.BufferBeforeMinutes, i+class.DurationMinutes+class.BufferAfterMinutes) {
				continue
			}
		}
		slots = append(slots, slot)
	}
	slices.SortFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), compareStaff(a.Staff, b.Staff),
			cmp.Compare(a.Session.Key, b.Session.Key))
	})
	return slots
}

func (o *oracle) today() timespan.Date {
	now := o.question.Now.In(o.loc)
	return timespan.NewDate(now.Year(), now.Month(), now.Day())
}

func compareStaff(a, b *catalog.Staff) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
}

// sessionWays are the assignments of a class at minute i that a request for date d means: the sessions that start then,
// in order of their keys.
func (o *oracle) sessionWays(asked timespan.Date, i int) []wayTaken {
	var found []Slot
	for _, d := range []timespan.Date{asked - 1, asked} {
		for _, s := range o.sessions(d) {
			if s.Start == o.start+int64(i)*60 {
				found = append(found, s)
			}
		}
	}
	slices.SortFunc(found, func(a, b Slot) int { return cmp.Compare(a.Session.Key, b.Session.Key) })
	var ways []wayTaken
	for _, s := range found {
		p := o.parts(i)[0]
		way := wayTaken{From: s.Start, To: s.Start + int64(p.service.DurationMinutes)*60}
		way.Session.ID, way.Session.Capacity, way.Session.Remaining = s.Session.ID, s.Session.Capacity, int(s.Remaining)
		for at := p.wide; s.Staff != nil && at < p.wend; at++ {
			way.Takes = append(way.Takes, taken{at, s.Staff.ID, 0})
		}
		if s.Staff != nil {
			way.Staff = s.Staff.ID
		}
		ways = append(ways, way)
	}
	return ways
}
