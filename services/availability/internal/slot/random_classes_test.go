package slot

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (b business) drawVariants() []catalog.Variant {
	variants := make([]catalog.Variant, 1+b.IntN(2))
	for i := range variants {
		variants[i] = catalog.Variant{ID: b.drawID(), DurationMinutes: 1 + b.IntN(240)}
	}
	return variants
}

// drawClass draws a service with sessions. A class that lasts for days has only single dates, none before the oracle's
// dates.
func (b business) drawClass(staff []catalog.Staff) catalog.Service {
	s := b.drawService(staff)
	s.Variants = nil
	s.Active = !b.chance(8)
	isLong := b.chance(8)
	if isLong {
		s.DurationMinutes = 1800 + b.IntN(4200)
	}
	for _, key := range []string{"delta", "alpha", "charlie", "bravo"}[:1+b.IntN(4)] {
		c := b.drawSession(staff, isLong)
		if n := len(s.Classes); n > 0 && b.chance(3) { // two sessions at one start
			like := s.Classes[n-1]
			c.Date, c.Weekday, c.From, c.To, c.Time = like.Date, like.Weekday, like.From, like.To, like.Time
		}
		c.ID, c.Key = b.drawID(), key
		s.Classes = append(s.Classes, c)
	}
	return s
}

func (b business) drawSession(staff []catalog.Staff, isSingle bool) catalog.ClassSession {
	c := catalog.ClassSession{Time: timespan.TimeOfDay(b.IntN(96) * 15), Capacity: 1 + b.IntN(4)}
	switch b.IntN(4) {
	case 0:
		c.Time = timespan.TimeOfDay(b.IntN(16) * 15) // when clocks change
	case 1:
		c.Time = timespan.TimeOfDay(b.IntN(1440))
	}
	if n := len(staff); n > 0 && !b.chance(4) {
		c.StaffID = &staff[b.IntN(n)].ID
	}
	if b.chance(20) {
		stranger := b.drawID()
		c.StaffID = &stranger
	}
	day := b.base - 2 + timespan.Date(b.IntN(6))
	if isSingle || b.chance(3) {
		c.Date = &day
		return c
	}
	weekday := day.Weekday()
	c.Weekday = &weekday
	if b.chance(3) {
		from := day - 2 + timespan.Date(b.IntN(4))
		c.From = &from
	}
	if b.chance(3) {
		to := day - 1 + timespan.Date(b.IntN(4))
		c.To = &to
	}
	return c
}

// blockAtSessions adds blocks that touch a session, overlap only its first or last minute, or begin within it.
func (b business) blockAtSessions(offer *catalog.Snapshot) {
	for i := range offer.Services {
		for _, c := range offer.Services[i].Classes {
			if !b.chance(3) || c.Date == nil && c.Weekday == nil {
				continue
			}
			from := b.drawLocalTime()
			if c.Date != nil {
				from.Date = *c.Date
			} else {
				from.Date += timespan.Date((7 + *c.Weekday - from.Date.Weekday()) % 7)
			}
			to := from
			length := 1 + b.IntN(60)
			after := int(c.Time) + []int{offer.Services[i].DurationMinutes - b.IntN(2), -length + b.IntN(2),
				10}[b.IntN(3)]
			from = addMinutes(from.Date, after)
			to = addMinutes(to.Date, after+length)
			block := catalog.Block{From: from, To: to}
			if c.StaffID != nil && b.chance(2) {
				block.StaffIDs = append(block.StaffIDs, *c.StaffID)
			}
			offer.Blocks = append(offer.Blocks, block)
		}
	}
}

// addMinutes returns the local time this number of minutes after the beginning of a date.
func addMinutes(d timespan.Date, minutes int) timespan.LocalDateTime {
	for ; minutes < 0; minutes += 1440 {
		d--
	}
	return timespan.LocalDateTime{Date: d + timespan.Date(minutes/1440), Time: timespan.TimeOfDay(minutes % 1440)}
}

// drawSales draws booked seats, the time that their guests occupy, and appointments that touch or barely overlap
// sessions.
func (b business) drawSales(offer *catalog.Snapshot) ([]booking.SeatsTaken, []booking.Busy) {
	var seats []booking.SeatsTaken
	var held []booking.Busy
	for i := range offer.Services {
		s := &offer.Services[i]
		for k := range s.Classes {
			c := &s.Classes[k]
			for d := b.base - 2; d < b.base+5; d++ {
				if c.Date != nil && *c.Date != d || c.Weekday != nil && *c.Weekday != d.Weekday() || b.chance(3) {
					continue
				}
				start := b.table.start + int64(b.table.minuteOf(d, c.Time))*60
				taken := booking.SeatsTaken{SessionID: c.ID, StartsAt: start, Taken: b.IntN(c.Capacity + 2)}
				if b.chance(6) {
					taken.StartsAt += 60 * int64(b.IntN(60)) // the session was held at another time then
				}
				seats = append(seats, taken)
				if c.StaffID != nil {
					held = append(held, b.drawBusyAround(s, start, booking.Resource{ID: *c.StaffID}))
				}
			}
		}
	}
	return seats, held
}

// drawBusyAround returns the time that guests of a session occupy, or an appointment close to it.
func (b business) drawBusyAround(s *catalog.Service, start int64, member booking.Resource) booking.Busy {
	span := timespan.Span{
		Start: start - int64(s.BufferBeforeMinutes)*60,
		End:   start + int64(time.Duration(s.DurationMinutes+s.BufferAfterMinutes)*time.Minute/time.Second),
	}
	busy := booking.Busy{Resource: member, Class: b.chance(2)}
	switch {
	case busy.Class:
	case b.chance(2):
		span.Start = span.End - int64(b.IntN(2))*60
		span.End = span.Start + 1800
	default:
		span.End = span.Start + int64(b.IntN(2))*60
		span.Start = span.End - 1800
	}
	busy.Add(span)
	return busy
}
