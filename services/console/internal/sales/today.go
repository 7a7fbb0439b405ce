package sales

import (
	"context"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Today has the customers and tasks of a business for the present day. It omits those that the person may not see.
type Today struct {
	Business *catalog.Snapshot
	Date     timespan.Date               // date of today in the time zone of the business
	Arrivals peers.Part[booking.Booking] // bookings of today that are not cancelled, sorted by start
	Pending  peers.Part[booking.Booking] // bookings from tomorrow on that the business must still confirm
	Unpaid   peers.Part[booking.Booking] // bookings that begin today or later and whose online payment is pending
	// UnpaidRentals are reservations that end today or later and whose online payment is pending.
	UnpaidRentals peers.Part[rental.Reservation]
	Due           peers.Part[rental.Reservation] // reservations not picked up yet whose dates include today
	PickedUp      peers.Part[rental.Reservation] // picked-up reservations that are due for return today or are overdue
	Calendar      *Calendar                      // calendar of today, with each member's free time
}

const (
	maxToday = 500 // maximum length of Arrivals and of each list of reservations
	maxBrief = 20  // maximum length of Pending and of Unpaid
)

// LoadToday reads the customers and tasks of a business on the present day. If a service is unavailable, the lists from
// this service are marked as unknown.
func (o *UseCases) LoadToday(ctx context.Context, by peers.Principal, slug string) (*Today, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	t := &Today{Business: business, Date: business.Today(o.Clock.Now())}
	tomorrow := t.Date + 1
	asks := []func() error{
		o.newBookingsQuery(ctx, by, business, &t.Arrivals, booking.Filter{From: &t.Date, To: &t.Date}, maxToday),
		o.newBookingsQuery(ctx, by, business, &t.Pending,
			booking.Filter{From: &tomorrow, Status: booking.StatusPending},
			maxBrief),
		o.newBookingsQuery(ctx, by, business, &t.Unpaid, booking.Filter{From: &t.Date, Payment: booking.PaymentOpen},
			maxBrief),
	}
	if by.PermissionIn(business.ID, access.Serve) != access.None && len(business.Staff) > 0 {
		asks = append(asks, func() error {
			var err error
			t.Calendar, err = o.LoadCalendar(ctx, by, slug, t.Date, 1, nil, nil)
			return err
		})
	}
	if business.Modules.Rentals && by.PermissionIn(business.ID, access.SeeSales) != access.None {
		asks = append(asks,
			o.newReservationsQuery(ctx, by, business, &t.UnpaidRentals,
				rental.Filter{From: &t.Date, Status: rental.StatusPending}),
			o.newReservationsQuery(ctx, by, business, &t.Due,
				rental.Filter{From: &t.Date, To: &t.Date, Status: rental.StatusReserved}),
			o.newReservationsQuery(ctx, by, business, &t.PickedUp,
				rental.Filter{To: &t.Date, Status: rental.StatusPickedUp}),
		)
	}
	if err := peers.RunTogether(asks...); err != nil {
		return nil, err
	}
	t.Arrivals.List = slices.DeleteFunc(t.Arrivals.List, func(b booking.Booking) bool {
		return b.Status == booking.StatusCancelled
	})
	t.Unpaid.List = slices.DeleteFunc(t.Unpaid.List, func(b booking.Booking) bool {
		return b.Status == booking.StatusCancelled
	})
	t.PickedUp.List = slices.DeleteFunc(t.PickedUp.List, func(r rental.Reservation) bool { return r.EndDate > t.Date })
	return t, nil
}

func (o *UseCases) newBookingsQuery(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	part *peers.Part[booking.Booking],
	filter booking.Filter, most int) func() error {
	return func() error {
		list, err := o.ListBookings(ctx, by, business.Slug, filter, request.Page{Limit: most})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Bookings, list.NextCursor, nil)
	}
}

func (o *UseCases) newReservationsQuery(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	part *peers.Part[rental.Reservation], filter rental.Filter) func() error {
	return func() error {
		list, err := o.listReservations(ctx, by, business, filter, request.Page{Limit: maxToday})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Reservations, list.NextCursor, nil)
	}
}

// Details has one booking with its history and its messages.
type Details struct {
	Booking  booking.Booking
	History  peers.Part[event.Event]           // newest first
	Messages peers.Part[notifications.Message] // newest first
}

// FindBooking returns a booking with the data that the principal's role may see. Fault: not_found if there is no such
// booking, or if the principal may see only their own bookings and the booking is with another member.
func (o *UseCases) FindBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) (*booking.Booking,
	error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	found, err := o.Bookings.Booking(ctx, business.ID, id)
	if err != nil {
		return nil, err
	}
	switch by.PermissionIn(business.ID, access.SeeBookings) {
	case access.Own:
		self, _ := by.MembershipIn(business.ID)
		if _, _, performs := found.PerformedBy(self.StaffID); !performs {
			return nil, fault.New(fault.NotFound, "Booking not found")
		}
	case access.NoContact:
		removeContact(found)
	default: // the principal sees the whole booking; the route refuses a principal who may see no bookings
	}
	return found, nil
}

// maxHistory is the maximum number of events, and of messages, that [Details] has.
const maxHistory = 50

// LoadDetails reads a booking with the history and the messages that the principal may see. If a service is
// unavailable, the list from this service is marked as unknown. Fault: not_found.
func (o *UseCases) LoadDetails(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) (*Details, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	d := &Details{}
	asks := []func() error{func() error {
		found, err := o.FindBooking(ctx, by, slug, id)
		if err == nil {
			d.Booking = *found
		}
		return err
	}}
	if by.PermissionIn(business.ID, access.SeeCustomers) != access.None {
		asks = append(asks, o.newHistoryQuery(ctx, slug, id, &d.History),
			o.newMessagesQuery(ctx, slug, id, &d.Messages))
	}
	return d, peers.RunTogether(asks...)
}

// newHistoryQuery returns a function that reads the events of an object into the argument `part`. The argument `id` is
// the id of the object.
func (o *UseCases) newHistoryQuery(ctx context.Context, slug string, id uuid.UUID,
	part *peers.Part[event.Event]) func() error {
	return func() error {
		list, err := o.ListBusinessEvents(ctx, slug, event.Filter{Subject: id}, request.Page{Limit: maxHistory})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Events, list.NextCursor, nil)
	}
}

// newMessagesQuery returns a function that reads the messages about an object into the argument `part`. The argument
// `id` is the id of the object.
func (o *UseCases) newMessagesQuery(ctx context.Context, slug string, id uuid.UUID,
	part *peers.Part[notifications.Message]) func() error {
	return func() error {
		list, err := o.ListMessages(ctx, slug, notifications.MessageFilter{About: id}, request.Page{Limit: maxHistory})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Messages, list.NextCursor, nil)
	}
}

// MaxExported is the maximum number of entries that an export has.
const MaxExported = 20_000

// ExportBookings reads all bookings that a filter matches, and calls the function `take` with each page of bookings.
// Fault: conflict if there are more than [MaxExported] bookings.
func (o *UseCases) ExportBookings(ctx context.Context, by peers.Principal, slug string, filter booking.Filter,
	take func([]booking.Booking)) error {
	n, err := export("bookings", take, func(page request.Page) ([]booking.Booking, string, error) {
		list, err := o.ListBookings(ctx, by, slug, filter, page)
		if err != nil {
			return nil, "", err
		}
		return list.Bookings, list.NextCursor, nil
	})
	if err == nil {
		o.LogChange(ctx, by, "export bookings", slug, slog.Int("bookings", n))
	}
	return err
}

// export reads all pages of a list, calls the function `take` with each page, and returns the number of entries. The
// argument `label` is the word for the entries in the error message. Fault: conflict if there are more than
// [MaxExported] entries.
func export[T any](label string, take func([]T), list func(request.Page) ([]T, string, error)) (int, error) {
	page, taken := request.Page{Limit: 1000}, 0
	for {
		entries, next, err := list(page)
		if err != nil {
			return taken, err
		}
		if taken += len(entries); taken > MaxExported {
			return taken, fault.Newf(fault.Conflict, "These are more than %d %s; choose fewer by a narrower filter.",
				MaxExported, label)
		}
		take(entries)
		if page.Cursor = next; next == "" {
			return taken, nil
		}
	}
}
