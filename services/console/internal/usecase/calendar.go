package usecase

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
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
	Free     []Minutes      // of one member: what is open and not taken
}

// Blocked is a part of blocked time, with the owner's note.
type Blocked struct {
	Minutes
	Reason string
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

// Calendar reads 1 or 7 days from a date on. One day has a column for each member. Seven days have a column for each
// day, of one member if member is set. If the booking service is unavailable, the bookings are unknown.
func (o *Owner) Calendar(ctx context.Context, by Principal, slug string, from timespan.Date, days int, member *uuid.UUID) (*Calendar, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	cal := &Calendar{From: from, Days: days, Columns: columns(by, business, from, days, member)}
	if err := o.describe(ctx, business, cal); err != nil {
		return nil, err
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
			all = append(all, Column{Date: date, Member: of, Blocked: blockedOn(business, of, date)})
		}
		return all
	}
	self, _ := by.In(business.ID)
	for i := range business.Staff {
		of := &business.Staff[i]
		if !of.Active || by.Reach(business.ID, access.SeeBookings) == access.Own && of.ID != self.StaffID || member != nil && of.ID != *member {
			continue
		}
		all = append(all, Column{Date: from, Member: of, Blocked: blockedOn(business, of, from)})
	}
	if member == nil && by.Reach(business.ID, access.SeeBookings) != access.Own {
		all = append(all, Column{Date: from, Blocked: blockedOn(business, nil, from)})
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
			start, end, isColumns := c.timeIn(col, b)
			at, ok := within(start, end, col.Date, business.Location())
			if !ok || !isColumns {
				continue
			}
			col.Bookings = append(col.Bookings, placed(business, b, at))
		}
	}
	if n := len(c.Columns); c.Days == 1 && n > 1 && c.Columns[n-1].Member == nil && len(c.Columns[n-1].Bookings) == 0 {
		c.Columns = c.Columns[:n-1] // nobody's column is there for what is in it
	}
}

// timeIn returns the time of a booking in a column. In a member's column it is the time in which that member performs;
// in other columns, the whole time. It returns false if the booking belongs in other columns.
func (c *Calendar) timeIn(col *Column, b booking.Booking) (time.Time, time.Time, bool) {
	if col.Member != nil {
		return b.PerformedBy(col.Member.ID)
	}
	hasColumn := slices.ContainsFunc(c.Columns, func(other Column) bool {
		if other.Member == nil {
			return false
		}
		_, _, performs := b.PerformedBy(other.Member.ID)
		return performs
	})
	return b.StartsAt, b.EndsAt, c.Days > 1 || !hasColumn
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

// describe fills the columns of a calendar with data from availability: working hours, the times of classes, and free
// time. If availability is unavailable, these are unknown, and so are the bookings.
func (o *Owner) describe(ctx context.Context, business *catalog.Offer, cal *Calendar) error {
	agenda, err := o.agenda(ctx, business, cal.From, cal.Days)
	if err != nil {
		return err
	}
	cal.Unknown = agenda == nil || !agenda.Computed
	if agenda == nil {
		return nil
	}
	for i := range cal.Columns {
		col := &cal.Columns[i]
		on := func(spans []timespan.Span) []Minutes { return minutesOn(spans, col.Date, business.Location()) }
		if col.Member == nil {
			col.Open = on(agenda.Open)
			continue
		}
		for _, m := range agenda.Members {
			if m.StaffID == col.Member.ID {
				col.Open, col.Taught, col.Free = on(m.Working), on(m.Teaching), on(m.Free)
			}
		}
	}
	return nil
}

// agenda asks availability about so many days from a date on; nil where it is away.
func (o *Owner) agenda(ctx context.Context, business *catalog.Offer, from timespan.Date, days int) (*availability.Agenda, error) {
	agenda, err := o.Availability.Agenda(ctx, availability.AgendaRequest{
		Slug: business.Slug, OfferVersion: business.Version, From: from, To: from + timespan.Date(days) - 1,
	})
	if fault.Is(err, fault.PeerUnavailable) {
		o.Logger.WarnContext(ctx, "when work is done is unknown", slog.Any("error", err))
		return nil, nil
	}
	return agenda, err
}

// minutesOn is what of spans lies on a date, on the wall clock.
func minutesOn(spans []timespan.Span, date timespan.Date, zone *time.Location) []Minutes {
	minutes := []Minutes{}
	for _, s := range spans {
		if m, ok := within(time.Unix(s.Start, 0), time.Unix(s.End, 0), date, zone); ok && m.From < m.To {
			minutes = append(minutes, m)
		}
	}
	return minutes
}

// blockedOn is the blocked time of a date, with the owner's notes: of a member also the member's own.
func blockedOn(business *catalog.Offer, of *catalog.Staff, date timespan.Date) []Blocked {
	var blocked []Blocked
	for _, b := range business.Blocks {
		if len(b.StaffIDs) > 0 && (of == nil || !slices.Contains(b.StaffIDs, of.ID)) {
			continue
		}
		at := Minutes{max(minute(b.From, date), 0), min(minute(b.To, date), dayMinutes)}
		if at.From < at.To {
			blocked = append(blocked, Blocked{at, b.Reason})
		}
	}
	return blocked
}

func minute(l timespan.LocalDateTime, date timespan.Date) int {
	return int(l.Date-date)*dayMinutes + int(l.Time)
}
