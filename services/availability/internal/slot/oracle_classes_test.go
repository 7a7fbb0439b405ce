package slot

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// takesPlace reports whether session c of class v takes place on date d. It does on its date, or on its weekday from
// c.From to c.To. It does not if an override closes the business, blocked time overlaps it, or its member is inactive.
func (o *oracle) takesPlace(v *catalog.Service, c *catalog.ClassSession, d timespan.Date) bool {
	if c.Date != nil && *c.Date != d || c.Weekday != nil && *c.Weekday != d.Weekday() {
		return false
	}
	if c.From != nil && d < *c.From || c.To != nil && d > *c.To {
		return false
	}
	if o.isClosed(v, c, d) {
		return false
	}
	blocked := o.blocked
	if c.StaffID != nil {
		if s := o.findMember(*c.StaffID); s == nil || !s.Active {
			return false
		}
		blocked = o.paintBlocked(*c.StaffID)
	}
	start := o.minuteOf(d, c.Time)
	return !slices.Contains(blocked[start:start+v.DurationMinutes], true)
}

func (o *oracle) findMember(id uuid.UUID) *catalog.Staff {
	for i := range o.offer.Staff {
		if o.offer.Staff[i].ID == id {
			return &o.offer.Staff[i]
		}
	}
	return nil
}

// paintSessions marks the minutes of each occurrence of a session, with the buffers of its class.
func (o *oracle) paintSessions(m minutes, v *catalog.Service, c *catalog.ClassSession) {
	for _, d := range o.listDates() {
		if o.takesPlace(v, c, d) {
			start := o.minuteOf(d, c.Time)
			before, after := o.sessionBuffers(v, c)
			o.paint(m, start-before, start+v.DurationMinutes+after)
		}
	}
}

// countSeatsLeft returns the number of free seats of session c at minute i.
func (o *oracle) countSeatsLeft(c *catalog.ClassSession, i int) int {
	left := c.Capacity
	for _, s := range o.occupied.Seats {
		if s.SessionID == c.ID && o.minuteAt(s.StartsAt) == i {
			left -= s.Taken
		}
	}
	return left
}

// isMemberBusy reports whether an appointment of a member overlaps the minutes from..to. Bookings of classes do not
// count.
func (o *oracle) isMemberBusy(member uuid.UUID, from, to int) bool {
	for _, b := range o.occupied.Busy {
		for i := 0; b.ID == member && b.CapacityUnit == 0 && !b.Class && i < len(b.Edges); i += 2 {
			if o.minuteAt(b.Edges[i]) < to && from < o.minuteAt(b.Edges[i+1]) {
				return true
			}
		}
	}
	return false
}

// isRequested reports whether the question asks for session c.
func (o *oracle) isRequested(c *catalog.ClassSession) bool {
	q := o.question
	if q.SessionID != nil && *q.SessionID != c.ID {
		return false
	}
	if q.LocationID != nil && o.sessionPlace(o.services[0], c).ID != *q.LocationID {
		return false
	}
	return q.StaffID == nil || c.StaffID != nil && *c.StaffID == *q.StaffID
}

// listSessions returns the slots of the class on date d: by start, then by the order and name of the member, then by
// the key of the session. Sessions without a member come last.
func (o *oracle) listSessions(d timespan.Date) []Slot {
	var slots []Slot
	class := o.services[0]
	for k := range class.Classes {
		c := &class.Classes[k]
		if !o.isRequested(c) || !o.takesPlace(class, c, d) {
			continue
		}
		i := o.minuteOf(d, c.Time)
		seats := o.countSeatsLeft(c, i)
		if seats <= 0 || d < o.today() || !o.isWithinLimits(d, i) {
			continue
		}
		slot := o.newSlot(nil, d, i)
		slot.Session, slot.Remaining = c, int32(seats)
		if c.StaffID != nil {
			slot.Staff = o.findMember(*c.StaffID)
			before, after := o.sessionBuffers(class, c)
			if o.isMemberBusy(*c.StaffID, i-before, i+class.DurationMinutes+after) ||
				o.isMemberAway(*c.StaffID, o.sessionPlace(class, c), i, i+class.DurationMinutes) {
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

// listSessionAssignments returns the assignments of a class for a request of the date requested: one for each session
// that begins at minute i, by key.
func (o *oracle) listSessionAssignments(asked timespan.Date, i int) []oracleAssignment {
	var found []Slot
	for _, d := range []timespan.Date{asked - 1, asked} {
		for _, s := range o.listSessions(d) {
			if s.Start == o.start+int64(i)*60 {
				found = append(found, s)
			}
		}
	}
	slices.SortFunc(found, func(a, b Slot) int { return cmp.Compare(a.Session.Key, b.Session.Key) })
	var assignments []oracleAssignment
	for _, s := range found {
		var place uuid.UUID
		p := o.listParts(i)[0]
		before, after := o.sessionBuffers(p.service, s.Session)
		p.occupiedFrom, p.occupiedTo = p.from-before, p.to+after
		if l := o.sessionPlace(p.service, s.Session); l != nil {
			place = l.ID
		}
		a := oracleAssignment{Location: place, From: s.Start, To: s.Start + int64(p.service.DurationMinutes)*60}
		a.Session.ID, a.Session.Capacity, a.Session.Remaining = s.Session.ID, s.Session.Capacity, int(s.Remaining)
		for at := p.occupiedFrom; s.Staff != nil && at < p.occupiedTo; at++ {
			a.Occupied = append(a.Occupied, occupiedMinute{at, s.Staff.ID, 0})
		}
		if s.Staff != nil {
			a.Staff = s.Staff.ID
		}
		assignments = append(assignments, a)
	}
	return assignments
}
