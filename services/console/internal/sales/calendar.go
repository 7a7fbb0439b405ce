package sales

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Calendar has the bookings and the free time of one day or of several days, in columns. A calendar of one day has a
// column for each member. A calendar of several days has a column for each day.
type Calendar struct {
	From      timespan.Date
	Days      int
	Columns   []Column
	IsUnknown bool // the booking service or the availability service is unavailable
	HasMore   bool // true if more bookings exist than the calendar has
}

// Column is one day of a calendar. A column has the bookings of one member, the bookings without a member, or all
// bookings of the day.
type Column struct {
	Date     timespan.Date
	Member   *catalog.Staff  // nil if the column has the bookings without a member or all bookings
	Open     []Minutes       // working hours, sorted and without overlaps
	Bookings []PlacedBooking // sorted by start; without the guests of Sessions
	Sessions []PlacedSession // class sessions that take place, even without guests; sorted by start
	Blocked  []BlockedTime   // blocked times, which are not part of Open
	Free     []Minutes       // the parts of Open in which Member is not busy; empty if Member is nil
}

// PlacedSession is a class session in a column of the calendar.
type PlacedSession struct {
	Session
	At Minutes
}

// BlockedTime is the part of a blocked time that lies in one column. Reason is the note that the owner wrote for the
// blocked time.
type BlockedTime struct {
	Minutes
	Reason string
}

// Minutes is a period of a day in the time zone of the business. From and To are clock times in minutes after midnight,
// from 0 to 1440.
type Minutes struct{ From, To int }

// PlacedBooking is a booking in a column of the calendar. The fields At, Before and After are minutes of the day that
// the column shows.
type PlacedBooking struct {
	booking.Booking
	At     Minutes
	Before Minutes // buffer before the booking; empty if From equals To
	After  Minutes
}

// ListBookings returns the bookings of all columns. A booking with several members can occur several times.
func (c *Calendar) ListBookings() []booking.Booking {
	var all []booking.Booking
	for _, col := range c.Columns {
		for _, b := range col.Bookings {
			all = append(all, b.Booking)
		}
	}
	return all
}

const (
	dayMinutes = 24 * 60
	maxPages   = 3 // maximum number of pages of bookings that a calendar reads
)

// BookingPage is the maximum number of bookings that a calendar reads from the booking service in one request.
const BookingPage = 1000

// LoadCalendar reads the calendar of `days` days, beginning on the day `from`. The calendar of one day has a column for
// each member. The calendar of several days has a column for each day; if the argument `member` is not nil, the columns
// show only this member. If the argument `at` is not nil, they show only bookings at this location. If the booking
// service or the availability service is unavailable, the field IsUnknown of the calendar is true.
func (o *UseCases) LoadCalendar(ctx context.Context, by peers.Principal, slug string, from timespan.Date, days int,
	member, at *uuid.UUID) (*Calendar, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	cal := &Calendar{From: from, Days: days, Columns: newColumns(by, business, from, days, member)}
	if err := o.describe(ctx, business, cal, findOwnStaffID(by, business), at); err != nil {
		return nil, err
	}
	var booked peers.Part[booking.Booking]
	before, last := from-1, from+timespan.Date(days)-1 // a booking of the previous day may end after midnight
	filter := booking.Filter{From: &before, To: &last, StaffID: member}
	if at != nil {
		filter.LocationIDs = []uuid.UUID{*at}
	}
	page := request.Page{Limit: BookingPage}
	for range maxPages {
		list, err := o.ListBookings(ctx, by, slug, filter, page)
		if err != nil {
			if err := peers.SetPart(ctx, o.Logger, &booked, nil, "", err); err != nil {
				return nil, err
			}
			cal.IsUnknown = true
			return cal, nil
		}
		booked.List = append(booked.List, list.Bookings...)
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			break
		}
	}
	cal.HasMore = page.Cursor != ""
	cal.place(business, booked.List)
	return cal, nil
}

// newColumns returns the columns of a calendar without bookings. For a principal who may see only their own bookings, a
// calendar of one day has only the column of this principal.
func newColumns(by peers.Principal, business *catalog.Snapshot, from timespan.Date, days int, member *uuid.UUID) []Column {
	var all []Column
	if days > 1 {
		of := findServingMember(business, member)
		for i := range days {
			date := from + timespan.Date(i)
			all = append(all, Column{Date: date, Member: of, Blocked: listBlockedOn(business, of, date)})
		}
		return all
	}
	self, _ := by.MembershipIn(business.ID)
	for i := range business.Staff {
		of := &business.Staff[i]
		if !of.Active || by.PermissionIn(business.ID, access.SeeBookings) == access.Own && of.ID != self.StaffID ||
			member != nil && of.ID != *member {
			continue
		}
		all = append(all, Column{Date: from, Member: of, Blocked: listBlockedOn(business, of, from)})
	}
	if member == nil && by.PermissionIn(business.ID, access.SeeBookings) != access.Own {
		all = append(all, Column{Date: from, Blocked: listBlockedOn(business, nil, from)})
	}
	return all
}

func findServingMember(business *catalog.Snapshot, id *uuid.UUID) *catalog.Staff {
	if id == nil {
		return nil
	}
	return business.StaffMember(*id)
}

// place puts the bookings that are not cancelled into the columns. If the member of a booking has no column, place puts
// the booking into the column without a member, which newColumns adds for this purpose.
func (c *Calendar) place(business *catalog.Snapshot, bookings []booking.Booking) {
	for _, b := range bookings {
		if b.Status == booking.StatusCancelled {
			continue
		}
		for i := range c.Columns {
			col := &c.Columns[i]
			start, end, isColumns := c.findTimeIn(col, b)
			at, ok := clipToDay(start, end, col.Date, business.Location())
			if !ok || !isColumns || col.hasSession(b) {
				continue
			}
			col.Bookings = append(col.Bookings, placeBooking(business, b, at))
		}
	}
	n := len(c.Columns)
	if last := c.Columns[max(0, n-1):]; c.Days == 1 && n > 1 && last[0].Member == nil &&
		len(last[0].Bookings)+len(last[0].Sessions) == 0 {
		c.Columns = c.Columns[:n-1] // show the column without a member only if it has entries
	}
}

// hasSession reports whether the column has the class session of a booking. The number of the session's taken seats
// then stands for the booking.
func (c *Column) hasSession(b booking.Booking) bool {
	return b.ClassScheduleID != nil && slices.ContainsFunc(c.Sessions, func(s PlacedSession) bool {
		return s.Class.ID == *b.ClassScheduleID && s.StartsAt.Equal(b.StartsAt)
	})
}

// findTimeIn returns the period that a booking occupies in a column. In the column of a member, the period is the time
// in which the member serves the customer. In other columns, the period is the whole booking. The third result is false
// if the booking does not belong in the column.
func (c *Calendar) findTimeIn(col *Column, b booking.Booking) (time.Time, time.Time, bool) {
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

// clipToDay returns the part of a period that lies on the given date, in clock times of the time zone `zone`. The
// second result is false if no part of the period lies on the date.
func clipToDay(start, end time.Time, date timespan.Date, zone *time.Location) (Minutes, bool) {
	from, to := computeMinute(start.In(zone), date), computeMinute(end.In(zone), date)
	if to <= 0 || from >= dayMinutes {
		return Minutes{}, false
	}
	return Minutes{max(from, 0), min(to, dayMinutes)}, true
}

// computeMinute returns the clock time of `t` in minutes after midnight of the date `date`. The result is negative if
// `t` is on an earlier date, and at least 1440 if `t` is on a later date.
func computeMinute(t time.Time, date timespan.Date) int {
	day := timespan.NewDate(t.Year(), t.Month(), t.Day())
	return int(day-date)*dayMinutes + t.Hour()*60 + t.Minute()
}

func placeBooking(business *catalog.Snapshot, b booking.Booking, at Minutes) PlacedBooking {
	p := PlacedBooking{Booking: b, At: at, Before: Minutes{at.From, at.From}, After: Minutes{at.To, at.To}}
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

// describe reads the working hours, the class sessions and the free time from the availability service, and adds these
// data to the columns. If the argument `only` is not nil, describe adds only the sessions of this member. If the
// argument `at` is not nil, describe adds only the sessions at this location. If the availability service is
// unavailable, describe sets `cal.IsUnknown` to true.
func (o *UseCases) describe(ctx context.Context, business *catalog.Snapshot, cal *Calendar, only, at *uuid.UUID) error {
	agenda, err := o.loadAgenda(ctx, business, cal.From, cal.Days)
	if err != nil {
		return err
	}
	cal.IsUnknown = agenda == nil || !agenda.Computed
	if agenda == nil {
		return nil
	}
	var sessions []Session
	for _, found := range agenda.Sessions {
		if s := newSession(business, found); s != nil && !s.IsOff && (only == nil || isTaughtBy(s.Class, *only)) &&
			takesPlaceAt(business, s, at) {
			sessions = append(sessions, *s)
		}
	}
	for i := range cal.Columns {
		col := &cal.Columns[i]
		col.Sessions = cal.listSessionsIn(col, sessions, business.Location())
		on := func(spans []timespan.Span) []Minutes { return listMinutesOn(spans, col.Date, business.Location()) }
		if col.Member == nil {
			col.Open = on(agenda.Open)
			continue
		}
		for _, m := range agenda.Members {
			if m.StaffID == col.Member.ID {
				col.Open, col.Free = on(m.Working), on(m.Free)
			}
		}
	}
	return nil
}

// takesPlaceAt reports whether a class session takes place at a location. The argument `at` is the location's id; nil stands
// for all locations.
func takesPlaceAt(business *catalog.Snapshot, s *Session, at *uuid.UUID) bool {
	l := business.SessionLocation(s.Service, s.Class)
	return at == nil || l != nil && l.ID == *at
}

// listSessionsIn returns the class sessions of a column. A column of a member has the sessions of this member. The
// column without a member of one day has the sessions of no member who has a column.
func (c *Calendar) listSessionsIn(col *Column, sessions []Session, zone *time.Location) []PlacedSession {
	var placed []PlacedSession
	for _, s := range sessions {
		end := s.StartsAt.Add(time.Duration(s.Service.DurationMinutes) * time.Minute)
		at, ok := clipToDay(s.StartsAt, end, col.Date, zone)
		hasColumn := slices.ContainsFunc(c.Columns, func(other Column) bool {
			return other.Member != nil && isTaughtBy(s.Class, other.Member.ID)
		})
		isColumns := c.Days > 1 || !hasColumn
		if col.Member != nil {
			isColumns = isTaughtBy(s.Class, col.Member.ID)
		}
		if ok && isColumns {
			placed = append(placed, PlacedSession{s, at})
		}
	}
	return placed
}

// loadAgenda reads the agenda of a business from the availability service. The argument `from` is the first day of the
// agenda, and the argument `days` is the number of days. The result is nil if the availability service is unavailable.
func (o *UseCases) loadAgenda(ctx context.Context, business *catalog.Snapshot, from timespan.Date,
	days int) (*availability.Agenda, error) {
	agenda, err := availability.ComputeAgenda.Call(ctx, o.Availability, availability.AgendaRequest{
		Slug: business.Slug, OfferVersion: business.Version, From: from, To: from + timespan.Date(days) - 1,
	})
	if fault.Is(err, fault.PeerUnavailable) {
		o.Logger.WarnContext(ctx, "the working hours of the team are unknown", slog.Any("error", err))
		return nil, nil
	}
	return agenda, err
}

// listMinutesOn returns the parts of the given periods that lie on the given date, in clock times of the time zone
// `zone`.
func listMinutesOn(spans []timespan.Span, date timespan.Date, zone *time.Location) []Minutes {
	minutes := []Minutes{}
	for _, s := range spans {
		if m, ok := clipToDay(time.Unix(s.Start, 0), time.Unix(s.End, 0), date, zone); ok && m.From < m.To {
			minutes = append(minutes, m)
		}
	}
	return minutes
}

// listBlockedOn returns the blocked times of the whole business on the given date, with the owner's notes. If the
// argument `of` is not nil, the result also has the blocked times of the member `of`.
func listBlockedOn(business *catalog.Snapshot, of *catalog.Staff, date timespan.Date) []BlockedTime {
	var blocked []BlockedTime
	for _, b := range business.Blocks {
		if len(b.StaffIDs) > 0 && (of == nil || !slices.Contains(b.StaffIDs, of.ID)) {
			continue
		}
		at := Minutes{max(toMinute(b.From, date), 0), min(toMinute(b.To, date), dayMinutes)}
		if at.From < at.To {
			blocked = append(blocked, BlockedTime{at, b.Reason})
		}
	}
	return blocked
}

func toMinute(l timespan.LocalDateTime, date timespan.Date) int {
	return int(l.Date-date)*dayMinutes + int(l.Time)
}
