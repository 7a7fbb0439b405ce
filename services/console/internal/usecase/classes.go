package usecase

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// Sessions are the class sessions of some days.
type Sessions struct {
	From    timespan.Date
	Days    int
	List    []Session // by start
	Unknown bool      // how many seats are taken cannot be told
}

// Session is one occurrence of a class session.
type Session struct {
	Service  *catalog.Service
	Class    *catalog.ClassSession
	Date     timespan.Date
	StartsAt time.Time
	Member   *catalog.Staff // nil: nobody is named
	Off      bool           // it does not take place: the day is closed, its time blocked, or its member inactive
	Taken    int
}

// Left is how many seats are free; 0 where more are taken than the capacity of today.
func (s *Session) Left() int { return max(0, s.Class.Capacity-s.Taken) }

// Sessions reads the class sessions of so many days from a date on, with the seats that are taken; a member of the staff has their own. Where
// booking is away, the seats are unknown.
func (o *Owner) Sessions(ctx context.Context, by Principal, business *catalog.Offer, from timespan.Date, days int) (*Sessions, error) {
	all := &Sessions{From: from, Days: days}
	only := ownSessions(by, business)
	for i := range business.Services {
		s := &business.Services[i]
		if !s.Active || !business.Modules.Services {
			continue
		}
		for j := range s.Classes {
			if only != nil && !ofMember(&s.Classes[j], *only) {
				continue
			}
			for date := from; date < from+timespan.Date(days); date++ {
				if happens(&s.Classes[j], date) {
					all.List = append(all.List, session(business, s, &s.Classes[j], date))
				}
			}
		}
	}
	slices.SortStableFunc(all.List, func(a, b Session) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.Service.Name, b.Service.Name))
	})
	return all, o.seats(ctx, business, all)
}

// ownSessions is the member whose sessions alone somebody sees; nil for all.
func ownSessions(by Principal, business *catalog.Offer) *uuid.UUID {
	if by.Reach(business.ID, access.SeeBookings) != access.Own {
		return nil
	}
	self, _ := by.In(business.ID)
	return &self.StaffID
}

func ofMember(class *catalog.ClassSession, id uuid.UUID) bool {
	return class.StaffID != nil && *class.StaffID == id
}

// happens reports whether a session takes place on a date: once, or on its weekday from a date to another.
func happens(class *catalog.ClassSession, date timespan.Date) bool {
	if class.Date != nil {
		return *class.Date == date
	}
	return class.Weekday != nil && date.Weekday() == *class.Weekday && (class.From == nil || date >= *class.From) && (class.To == nil || date <= *class.To)
}

func session(business *catalog.Offer, s *catalog.Service, class *catalog.ClassSession, date timespan.Date) Session {
	one := Session{Service: s, Class: class, Date: date, StartsAt: time.Unix(timespan.Instant(date, class.Time, business.Location()), 0).UTC()}
	if class.StaffID != nil {
		one.Member = business.StaffMember(*class.StaffID)
		one.Off = one.Member == nil || !one.Member.Active
	}
	hours, overridden := overridden(business.Overrides, date)
	one.Off = one.Off || overridden && len(hours) == 0 || blocked(business, one)
	return one
}

// blocked reports whether blocked time of the business, or of the session's member, overlaps a session.
func blocked(business *catalog.Offer, s Session) bool {
	length := time.Duration(s.Service.DurationMinutes) * time.Minute
	at := timespan.Span{Start: s.StartsAt.Unix(), End: s.StartsAt.Add(length).Unix()}
	instant := func(l timespan.LocalDateTime) int64 { return timespan.Instant(l.Date, l.Time, business.Location()) }
	return slices.ContainsFunc(business.Blocks, func(b catalog.Block) bool {
		of := len(b.StaffIDs) == 0 || s.Class.StaffID != nil && slices.Contains(b.StaffIDs, *s.Class.StaffID)
		return of && at.Overlaps(timespan.Span{Start: instant(b.From), End: instant(b.To)})
	})
}

// seats counts those that are taken.
func (o *Owner) seats(ctx context.Context, business *catalog.Offer, all *Sessions) error {
	if len(all.List) == 0 {
		return nil
	}
	first, last := all.List[0].StartsAt, all.List[len(all.List)-1].StartsAt
	occupied, err := o.Bookings.Occupied(ctx, business.ID, first, last.Add(time.Second), true, nil)
	if fault.Is(err, fault.PeerUnavailable) {
		o.Logger.WarnContext(ctx, "the seats of classes are unknown", slog.Any("error", err))
		all.Unknown = true
		return nil
	}
	if err != nil {
		return err
	}
	taken := occupied.SeatsByOccurrence()
	for i := range all.List {
		one := &all.List[i]
		one.Taken = taken[booking.Occurrence{SessionID: one.Class.ID, StartsAt: one.StartsAt.Unix()}]
	}
	return nil
}

// Roster is who comes to one session.
type Roster struct {
	Session Session
	Unknown bool // how many seats are taken cannot be told
	Guests  Part[booking.Booking]
}

// Roster reads the bookings of a session on a date, without those that are cancelled, by name. Faults: not_found where it does not take place
// then, or is another member's and the person sees their own alone.
func (o *Owner) Roster(ctx context.Context, by Principal, business *catalog.Offer, id uuid.UUID, date timespan.Date) (*Roster, error) {
	day, err := o.Sessions(ctx, by, business, date, 1)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(day.List, func(s Session) bool { return s.Class.ID == id })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "There is no such session then.")
	}
	r := &Roster{Session: day.List[i], Unknown: day.Unknown}
	filter := booking.Filter{From: &date, To: &date, ServiceID: &r.Session.Service.ID}
	list, err := o.ListBookings(ctx, by, business.Slug, filter, request.Page{Limit: bookingPage})
	if err != nil {
		return r, known(ctx, o, &r.Guests, nil, "", err)
	}
	guests := slices.DeleteFunc(list.Bookings, func(b booking.Booking) bool {
		return b.Status == booking.StatusCancelled || b.ClassScheduleID == nil || *b.ClassScheduleID != id
	})
	slices.SortStableFunc(guests, func(a, b booking.Booking) int { return cmp.Compare(a.CustomerName, b.CustomerName) })
	return r, known(ctx, o, &r.Guests, guests, list.NextCursor, nil)
}
