package catalog

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// HoldsSession reports whether a booked class session still takes place under this snapshot
// (semantics.md §2). The argument `during` is the booked span. Only the start of this span
// must still match, so that a changed duration of the service does not cancel the session.
//
// The argument `zone` is the time zone at the time of the sale.
// HoldsSession interprets the local times of the snapshot in this zone.
func (o *Snapshot) HoldsSession(service, session uuid.UUID, during timespan.Span, zone *time.Location) bool {
	s := o.Service(service)
	if s == nil || !s.Active || !o.Modules.Services {
		return false
	}
	i := slices.IndexFunc(s.Classes, func(c ClassSession) bool { return c.ID == session })
	if i < 0 {
		return false
	}
	c, date := &s.Classes[i], timespan.DateOf(time.Unix(during.Start, 0), zone)
	if !c.isOn(date) || timespan.Instant(date, c.Time, zone) != during.Start ||
		o.ClosesOn(o.SessionLocation(s, c), date) || o.blocks(c.StaffID, during, zone) {
		return false
	}
	member := c.StaffID
	if member == nil {
		return true
	}
	by := o.StaffMember(*member)
	return by != nil && by.Active
}

// isOn reports whether the session is scheduled on a date. It ignores overrides and blocks.
func (c *ClassSession) isOn(date timespan.Date) bool {
	if c.Date != nil {
		return *c.Date == date
	}
	return c.Weekday != nil && *c.Weekday == date.Weekday() && (c.From == nil || *c.From <= date) &&
		(c.To == nil || date <= *c.To)
}

// blocks reports whether a block of the whole business or of the given staff member overlaps a span.
func (o *Snapshot) blocks(member *uuid.UUID, during timespan.Span, zone *time.Location) bool {
	return slices.ContainsFunc(o.Blocks, func(b Block) bool {
		blocked := timespan.Span{Start: timespan.Instant(b.From.Date, b.From.Time, zone),
			End: timespan.Instant(b.To.Date, b.To.Time, zone)}
		ofMember := len(b.StaffIDs) == 0 || member != nil && slices.Contains(b.StaffIDs, *member)
		return ofMember && blocked.Overlaps(during)
	})
}
