package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// Calendar is what takes time on some days, by columns: the members on one day, or the days of one member or of all.
type Calendar struct {
	From    timespan.Date
	Days    int // 1 or 7
	Columns []Column
	Unknown bool // what is booked cannot be told
	More    bool // more is booked than is shown
}

// Column is one day of one member, of those bookings that nobody serves, or of all.
type Column struct {
	Date     timespan.Date
	Member   *catalog.Staff // nil: nobody's, or everybody's
	Open     []Minutes      // when work is done; sorted, apart
	Bookings []Placed       // by start
	Blocked  []Blocked      // blocked time, which is not open
	Taught   []Minutes      // of one member: class sessions that they give, booked or not, with buffers
}

// Blocked is a part of blocked time, with the owner's note.
type Blocked struct {
	Minutes
	Reason string
}

// Free is what of one member's day is open and not taken; sorted, apart. What nobody's column, or everybody's, has free says nothing.
func (c *Column) Free() []Minutes {
	if c.Member == nil {
		return nil
	}
	var taken []timespan.Span
	for _, b := range c.Bookings {
		taken = append(taken, timespan.Span{Start: int64(b.Before.From), End: int64(b.After.To)})
	}
	for _, m := range c.Taught {
		taken = append(taken, timespan.Span{Start: int64(m.From), End: int64(m.To)})
	}
	var open []timespan.Span
	for _, m := range c.Open {
		open = append(open, timespan.Span{Start: int64(m.From), End: int64(m.To)})
	}
	return minutesOf(timespan.Subtract(nil, open, timespan.Normalize(taken)))
}

func minutesOf(spans []timespan.Span) []Minutes {
	minutes := make([]Minutes, len(spans))
	for i, s := range spans {
		minutes[i] = Minutes{int(s.Start), int(s.End)}
	}
	return minutes
}

// Minutes are a part of a day on the business's wall clock, counted from midnight, within 0 to 1440.
type Minutes struct{ From, To int }

// Placed is a booking in a column.
type Placed struct {
	booking.Booking
	At     Minutes
	Before Minutes // buffer; empty where From equals To
	After  Minutes
}

const (
	dayMinutes  = 24 * 60
	mostPages   = 3 // of the bookings of a calendar
	bookingPage = 1000
)

// Calendar reads days 1 or 7 from a date on. Of one day it has a column for each member; of seven one for each day, of the member where
// there is one. A booking service that is away leaves what is booked unknown.
func (o *Owner) Calendar(ctx context.Context, by Principal, slug string, from timespan.Date, days int, member *uuid.UUID) (*Calendar, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	cal := &Calendar{From: from, Days: days, Columns: columns(by, business, from, days, member)}
	for i := range cal.Columns {
		cal.Columns[i].describe(business)
	}
	var booked Part[booking.Booking]
	before, last := from-1, from+timespan.Date(days)-1 // what began the day before may reach into the first
	filter := booking.Filter{From: &before, To: &last, StaffID: member}
	page := request.Page{Limit: bookingPage}
	for range mostPages {
		list, err := o.ListBookings(ctx, by, slug, filter, page)
		if err != nil {
			if err := known(ctx, o, &booked, nil, "", err); err != nil {
				return nil, err
			}
			cal.Unknown = true
			return cal, nil
		}
		booked.List = append(booked.List, list.Bookings...)
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			break
		}
	}
	cal.More = page.Cursor != ""
	cal.place(business, booked.List)
	return cal, nil
}

// columns are those that a calendar shows, without bookings.
func columns(by Principal, business *catalog.Offer, from timespan.Date, days int, member *uuid.UUID) []Column {
	var all []Column
	if days > 1 {
		of := servedBy(business, member)
		for i := range days {
			date := from + timespan.Date(i)
			all = append(all, Column{Date: date, Member: of, Open: open(business, of, date)})
		}
		return all
	}
	self, _ := by.In(business.ID)
	for i := range business.Staff {
		of := &business.Staff[i]
		if !of.Active || by.Reach(business.ID, access.SeeBookings) == access.Own && of.ID != self.StaffID || member != nil && of.ID != *member {
			continue
		}
		all = append(all, Column{Date: from, Member: of, Open: open(business, of, from)})
	}
	if member == nil && by.Reach(business.ID, access.SeeBookings) != access.Own {
		all = append(all, Column{Date: from, Open: open(business, nil, from)})
	}
	return all
}

func servedBy(business *catalog.Offer, id *uuid.UUID) *catalog.Staff {
	if id == nil {
		return nil
	}
	return business.StaffMember(*id)
}

// place puts bookings that are not cancelled where they are; of a member who works no more, where nobody's are.
func (c *Calendar) place(business *catalog.Offer, bookings []booking.Booking) {
	for _, b := range bookings {
		if b.Status == booking.StatusCancelled {
			continue
		}
		for i := range c.Columns {
			col := &c.Columns[i]
			at, ok := within(b.StartsAt, b.EndsAt, col.Date, business.Location())
			if !ok || !c.belongs(col, b) {
				continue
			}
			col.Bookings = append(col.Bookings, placed(business, b, at))
		}
	}
	if n := len(c.Columns); c.Days == 1 && n > 1 && c.Columns[n-1].Member == nil && len(c.Columns[n-1].Bookings) == 0 {
		c.Columns = c.Columns[:n-1] // nobody's column is there for what is in it
	}
}

func (c *Calendar) belongs(col *Column, b booking.Booking) bool {
	if col.Member != nil {
		return b.StaffID != nil && *b.StaffID == col.Member.ID
	}
	return c.Days > 1 || b.StaffID == nil || !slices.ContainsFunc(c.Columns, func(other Column) bool { return other.Member != nil && other.Member.ID == *b.StaffID })
}

// within is what of a span of time lies on a date, on the wall clock.
func within(start, end time.Time, date timespan.Date, zone *time.Location) (Minutes, bool) {
	from, to := minuteOf(start.In(zone), date), minuteOf(end.In(zone), date)
	if to <= 0 || from >= dayMinutes {
		return Minutes{}, false
	}
	return Minutes{max(from, 0), min(to, dayMinutes)}, true
}

// minuteOf is a time on the wall clock as minutes after midnight of a date.
func minuteOf(t time.Time, date timespan.Date) int {
	day := timespan.NewDate(t.Year(), t.Month(), t.Day())
	return int(day-date)*dayMinutes + t.Hour()*60 + t.Minute()
}

func placed(business *catalog.Offer, b booking.Booking, at Minutes) Placed {
	p := Placed{Booking: b, At: at, Before: Minutes{at.From, at.From}, After: Minutes{at.To, at.To}}
	if len(b.Services) == 0 {
		return p
	}
	if s := business.Service(b.Services[0].ID); s != nil {
		p.Before.From = max(at.From-s.BufferBeforeMinutes, 0)
	}
	if s := business.Service(b.Services[len(b.Services)-1].ID); s != nil {
		p.After.To = min(at.To+s.BufferAfterMinutes, dayMinutes)
	}
	return p
}

// open is when a member works on a date, the business where there is no member (semantics.md §1).
func open(business *catalog.Offer, of *catalog.Staff, date timespan.Date) []Minutes {
	free := worked(business, nil, date)
	if of != nil {
		free = timespan.Intersect(nil, worked(business, of, date), free)
	}
	for _, b := range business.Blocks {
		if len(b.StaffIDs) == 0 || of != nil && slices.Contains(b.StaffIDs, of.ID) {
			blocked := timespan.Span{Start: minute(b.From, date), End: minute(b.To, date)}
			free = timespan.Subtract(nil, free, []timespan.Span{blocked})
		}
	}
	return minutesOf(free)
}

// describe adds to a column what is blocked on its day and, of a member, the classes that they give.
func (c *Column) describe(business *catalog.Offer) {
	for _, b := range business.Blocks {
		if len(b.StaffIDs) > 0 && (c.Member == nil || !slices.Contains(b.StaffIDs, c.Member.ID)) {
			continue
		}
		at := Minutes{int(max(minute(b.From, c.Date), 0)), int(min(minute(b.To, c.Date), dayMinutes))}
		if at.From < at.To {
			c.Blocked = append(c.Blocked, Blocked{at, b.Reason})
		}
	}
	if c.Member == nil {
		return
	}
	for i := range business.Services {
		s := &business.Services[i]
		for j := range s.Classes {
			class := &s.Classes[j]
			if s.Active && ofMember(class, c.Member.ID) && happens(class, c.Date) && !session(business, s, class, c.Date).Off {
				from := int(class.Time)
				c.Taught = append(c.Taught, Minutes{max(from-s.BufferBeforeMinutes, 0), min(from+s.DurationMinutes+s.BufferAfterMinutes, dayMinutes)})
			}
		}
	}
}

func minute(l timespan.LocalDateTime, date timespan.Date) int64 {
	return int64(l.Date-date)*dayMinutes + int64(l.Time)
}

// worked are the windows that lie on a date, in minutes after its midnight: its own, and those of the day before that end on it.
func worked(business *catalog.Offer, of *catalog.Staff, date timespan.Date) []timespan.Span {
	var spans []timespan.Span
	for _, day := range []timespan.Date{date - 1, date} {
		shift := int64(day-date) * dayMinutes
		for _, w := range begin(business, of, day) {
			from, to := max(int64(w.From)+shift, 0), min(int64(w.To)+shift, dayMinutes)
			if from < to {
				spans = append(spans, timespan.Span{Start: from, End: to})
			}
		}
	}
	return timespan.Normalize(spans)
}

// begin are the windows that begin on a date: those of an override, else of the weekday; a member without hours has the business's.
func begin(business *catalog.Offer, of *catalog.Staff, date timespan.Date) []timespan.Window {
	if of != nil {
		if hours, ok := overridden(of.Overrides, date); ok {
			return hours
		}
		if of.Hours != nil {
			return of.Hours[date.Weekday()]
		}
	}
	if hours, ok := overridden(business.Overrides, date); ok {
		return hours
	}
	return business.Hours[date.Weekday()]
}

func overridden(overrides []catalog.DayOverride, date timespan.Date) ([]timespan.Window, bool) {
	for _, o := range overrides {
		if o.Date == date {
			return o.Hours, true
		}
	}
	return nil, false
}
