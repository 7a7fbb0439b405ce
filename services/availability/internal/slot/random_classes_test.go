package slot

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (b business) variants() []catalog.Variant {
	variants := make([]catalog.Variant, 1+b.IntN(2))
	for i := range variants {
		variants[i] = catalog.Variant{ID: b.id(), DurationMinutes: 1 + b.IntN(240)}
	}
	return variants
}

// class draws a service with sessions. One that lasts for days has single dates alone, none before those that the
// oracle knows.
func (b business) class(staff []catalog.Staff) catalog.Service {
	s := b.service(staff)
	s.Variants = nil
	s.Active = !b.oneIn(8)
	lasting := b.oneIn(8)
	if lasting {
		s.DurationMinutes = 1800 + b.IntN(4200)
	}
	for _, key := range []string{"delta", "alpha", "charlie", "bravo"}[:1+b.IntN(4)] {
		c := b.session(staff, lasting)
		if n := len(s.Classes); n > 0 && b.oneIn(3) { // two sessions at one start
			like := s.Classes[n-1]
			c.Date, c.Weekday, c.From, c.To, c.Time = like.Date, like.Weekday, like.From, like.To, like.Time
		}
		c.ID, c.Key = b.id(), key
		s.Classes = append(s.Classes, c)
	}
	return s
}

func (b business) session(staff []catalog.Staff, once bool) catalog.ClassSession {
	c := catalog.ClassSession{Time: timespan.TimeOfDay(b.IntN(96) * 15), Capacity: 1 + b.IntN(4)}
	switch b.IntN(4) {
	case 0:
		c.Time = timespan.TimeOfDay(b.IntN(16) * 15) // when clocks change
	case 1:
		c.Time = timespan.TimeOfDay(b.IntN(1440))
	}
	if n := len(staff); n > 0 && !b.oneIn(4) {
		c.StaffID = &staff[b.IntN(n)].ID
	}
	if b.oneIn(20) {
		stranger := b.id()
		c.StaffID = &stranger
	}
	day := b.base - 2 + timespan.Date(b.IntN(6))
	if once || b.oneIn(3) {
		c.Date = &day
		return c
	}
	weekday := day.Weekday()
	c.Weekday = &weekday
	if b.oneIn(3) {
		from := day - 2 + timespan.Date(b.IntN(4))
		c.From = &from
	}
	if b.oneIn(3) {
		to := day - 1 + timespan.Date(b.IntN(4))
		c.To = &to
	}
	return c
}

// blockAtSessions blocks time that touches a session, or overlaps its first or last minute, or begins within it.
func (b business) blockAtSessions(offer *catalog.Offer) {
	for i := range offer.Services {
		for _, c := range offer.Services[i].Classes {
			if !b.oneIn(3) || c.Date == nil && c.Weekday == nil {
				continue
			}
			from := b.localTime()
			if c.Date != nil {
				from.Date = *c.Date
			} else {
				from.Date += timespan.Date((7 + *c.Weekday - from.Date.Weekday()) % 7)
			}
			to := from
			length := 1 + b.IntN(60)
			after := int(c.Time) + []int{offer.Services[i].DurationMinutes - b.IntN(2), -length + b.IntN(2),
				10}[b.IntN(3)]
			from = later(from.Date, after)
			to = later(to.Date, after+length)
			block := catalog.Block{From: from, To: to}
			if c.StaffID != nil && b.oneIn(2) {
				block.StaffIDs = append(block.StaffIDs, *c.StaffID)
			}
			offer.Blocks = append(offer.Blocks, block)
		}
	}
}

// later is so many minutes, on the wall, after a date begins.
func later(d timespan.Date, minutes int) timespan.LocalDateTime {
	for ; minutes < 0; minutes += 1440 {
		d--
	}
	return timespan.LocalDateTime{Date: d + timespan.Date(minutes/1440), Time: timespan.TimeOfDay(minutes % 1440)}
}

// sold draws seats taken, the time that their guests hold, and appointments that touch or just overlap sessions.
func (b business) sold(offer *catalog.Offer) ([]booking.SeatsTaken, []booking.Busy) {
	var seats []booking.SeatsTaken
	var held []booking.Busy
	for i := range offer.Services {
		s := &offer.Services[i]
		for k := range s.Classes {
			c := &s.Classes[k]
			for d := b.base - 2; d < b.base+5; d++ {
				if c.Date != nil && *c.Date != d || c.Weekday != nil && *c.Weekday != d.Weekday() || b.oneIn(3) {
					continue
				}
				start := b.table.start + int64(b.table.minuteOf(d, c.Time))*60
				taken := booking.SeatsTaken{SessionID: c.ID, StartsAt: start, Taken: b.IntN(c.Capacity + 2)}
				if b.oneIn(6) {
					taken.StartsAt += 60 * int64(b.IntN(60)) // the session was held at another time then
				}
				seats = append(seats, taken)
				if c.StaffID != nil {
					held = append(held, b.heldAround(s, start, booking.Resource{ID: *c.StaffID}))
				}
			}
		}
	}
	return seats, held
}

// heldAround is the time that guests of a session hold, or an appointment close to it.
func (b business) heldAround(s *catalog.Service, start int64, member booking.Resource) booking.Busy {
	span := timespan.Span{
		Start: start - int64(s.BufferBeforeMinutes)*60,
		End:   start + int64(time.Duration(s.DurationMinutes+s.BufferAfterMinutes)*time.Minute/time.Second),
	}
	busy := booking.Busy{Resource: member, Class: b.oneIn(2)}
	switch {
	case busy.Class:
	case b.oneIn(2):
		span.Start = span.End - int64(b.IntN(2))*60
		span.End = span.Start + 1800
	default:
		span.End = span.Start + int64(b.IntN(2))*60
		span.Start = span.End - 1800
	}
	busy.Add(span)
	return busy
}
