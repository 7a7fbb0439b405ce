package sales

import (
	"cmp"
	"context"
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

// Sessions has the class sessions of several days. From is the first day, and Days is the number of days.
type Sessions struct {
	From      timespan.Date
	Days      int
	List      []Session // sorted by start
	IsUnknown bool      // true if the numbers of taken seats cannot be read
}

// Session is one occurrence of a class session: the session on one date.
type Session struct {
	Service     *catalog.Service
	Class       *catalog.ClassSession
	Date        timespan.Date
	StartsAt    time.Time
	Member      *catalog.Staff // nil if the class session names no member
	IsOff       bool           // true on a closed day, at a blocked time, or if Member is inactive
	BookedSeats int
}

// FreeSeats returns the number of free seats. If the owner has reduced the capacity below the number of taken seats,
// FreeSeats returns 0.
func (s *Session) FreeSeats() int { return max(0, s.Class.Capacity-s.BookedSeats) }

// ListSessions reads the class sessions of several days, with the numbers of taken seats. The argument `from` is the
// first day. If the principal is a member of the staff, the list has only the sessions of this member. If the
// availability service is unavailable, the list is empty. If only the booking service is unavailable, the numbers of
// taken seats are unknown. In both cases, the field IsUnknown is true.
// seats are unknown. In both cases, the field IsUnknown is true.
func (o *UseCases) ListSessions(ctx context.Context, by peers.Principal, business *catalog.Snapshot, from timespan.Date,
	days int) (*Sessions, error) {
	all := &Sessions{From: from, Days: days}
	if !business.Modules.Services {
		return all, nil
	}
	agenda, err := o.loadAgenda(ctx, business, from, days)
	if err != nil {
		return nil, err
	}
	if all.IsUnknown = agenda == nil || !agenda.Computed; agenda == nil {
		return all, nil
	}
	only := findOwnStaffID(by, business)
	for _, found := range agenda.Sessions {
		if s := newSession(business, found); s != nil && (only == nil || isTaughtBy(s.Class, *only)) {
			all.List = append(all.List, *s)
		}
	}
	slices.SortStableFunc(all.List, func(a, b Session) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.Service.Name, b.Service.Name))
	})
	return all, nil
}

// findOwnStaffID returns the id of the member whose sessions the principal may see. It returns nil if the principal may
// see all sessions.
func findOwnStaffID(by peers.Principal, business *catalog.Snapshot) *uuid.UUID {
	if by.PermissionIn(business.ID, access.SeeBookings) != access.Own {
		return nil
	}
	self, _ := by.MembershipIn(business.ID)
	return &self.StaffID
}

func isTaughtBy(class *catalog.ClassSession, id uuid.UUID) bool {
	return class.StaffID != nil && *class.StaffID == id
}

// newSession returns the class session that the availability service has found, with the service, the class session's
// settings and the member from the offer. It returns nil if the offer no longer has the class session.
func newSession(business *catalog.Snapshot, found availability.ClassSession) *Session {
	service := business.Service(found.ServiceID)
	if service == nil {
		return nil
	}
	i := slices.IndexFunc(service.Classes, func(c catalog.ClassSession) bool { return c.ID == found.ID })
	if i < 0 {
		return nil
	}
	one := &Session{
		Service: service, Class: &service.Classes[i], Date: found.Date,
		StartsAt: time.Unix(found.During.Start, 0).UTC(), IsOff: found.Off, BookedSeats: found.Taken,
	}
	if one.Class.StaffID != nil {
		one.Member = business.StaffMember(*one.Class.StaffID)
	}
	return one
}

// Roster has the guests of one class session on one date.
type Roster struct {
	Session   Session
	IsUnknown bool // true if the number of taken seats cannot be read
	Guests    peers.Part[booking.Booking]
}

// LoadRoster reads the bookings of a class session on a date. The bookings are sorted by the names of the customers,
// and cancelled bookings are omitted. Fault: not_found if the session does not take place on this date, or if the
// principal may not see the bookings of the session's member.
func (o *UseCases) LoadRoster(ctx context.Context, by peers.Principal, business *catalog.Snapshot, id uuid.UUID,
	date timespan.Date) (*Roster, error) {
	day, err := o.ListSessions(ctx, by, business, date, 1)
	if err != nil {
		return nil, err
	}
	if day.IsUnknown && len(day.List) == 0 {
		return nil, fault.New(fault.PeerUnavailable, "The class sessions cannot be read just now; try again shortly.")
	}
	i := slices.IndexFunc(day.List, func(s Session) bool { return s.Class.ID == id })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "There is no such session then.")
	}
	r := &Roster{Session: day.List[i], IsUnknown: day.IsUnknown}
	filter := booking.Filter{From: &date, To: &date, ServiceID: &r.Session.Service.ID}
	list, err := o.ListBookings(ctx, by, business.Slug, filter, request.Page{Limit: BookingPage})
	if err != nil {
		return r, peers.SetPart(ctx, o.Logger, &r.Guests, nil, "", err)
	}
	guests := slices.DeleteFunc(list.Bookings, func(b booking.Booking) bool {
		return b.Status == booking.StatusCancelled || b.ClassScheduleID == nil || *b.ClassScheduleID != id
	})
	slices.SortStableFunc(guests, func(a, b booking.Booking) int { return cmp.Compare(a.CustomerName, b.CustomerName) })
	return r, peers.SetPart(ctx, o.Logger, &r.Guests, guests, list.NextCursor, nil)
}
