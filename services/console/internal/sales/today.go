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

// Today lists today's customers and tasks, as far as the person may see them.
type Today struct {
	Business *catalog.Offer
	Date     timespan.Date               // today, by the business's zone
	Arrivals peers.Part[booking.Booking] // of today, sorted by start, without cancelled ones
	Pending  peers.Part[booking.Booking] // to be confirmed, from tomorrow on
	Unpaid   peers.Part[booking.Booking] // online payment pending, from today on
	// UnpaidRentals are reservations with a pending online payment, from today on.
	UnpaidRentals peers.Part[rental.Reservation]
	Due           peers.Part[rental.Reservation] // to be picked up today
	Out           peers.Part[rental.Reservation] // picked up, and to be returned by today
	Calendar      *Calendar                      // of today, with each member's free time
}

const (
	mostToday = 500 // arrivals of one day that are shown
	mostBrief = 20  // of each of the other lists
)

// Today reads what a business has to do today. If a service is unavailable, its part is unknown.
func (o *UseCases) Today(ctx context.Context, by peers.Principal, slug string) (*Today, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	t := &Today{Business: business, Date: business.Today(o.Clock.Now())}
	tomorrow := t.Date + 1
	asks := []func() error{
		o.bookingsOf(ctx, by, business, &t.Arrivals, booking.Filter{From: &t.Date, To: &t.Date}, mostToday),
		o.bookingsOf(ctx, by, business, &t.Pending, booking.Filter{From: &tomorrow, Status: booking.StatusPending},
			mostBrief),
		o.bookingsOf(ctx, by, business, &t.Unpaid, booking.Filter{From: &t.Date, Payment: booking.PaymentOpen},
			mostBrief),
	}
	if by.Reach(business.ID, access.Serve) != access.None && len(business.Staff) > 0 {
		asks = append(asks, func() error {
			var err error
			t.Calendar, err = o.Calendar(ctx, by, slug, t.Date, 1, nil)
			return err
		})
	}
	if business.Modules.Rentals && by.Reach(business.ID, access.SeeSales) != access.None {
		asks = append(asks,
			o.reservationsOf(ctx, by, business, &t.UnpaidRentals,
				rental.Filter{From: &t.Date, Status: rental.StatusPending}),
			o.reservationsOf(ctx, by, business, &t.Due,
				rental.Filter{From: &t.Date, To: &t.Date, Status: rental.StatusReserved}),
			o.reservationsOf(ctx, by, business, &t.Out, rental.Filter{To: &t.Date, Status: rental.StatusPickedUp}),
		)
	}
	if err := peers.Together(asks...); err != nil {
		return nil, err
	}
	t.Arrivals.List = slices.DeleteFunc(t.Arrivals.List, func(b booking.Booking) bool {
		return b.Status == booking.StatusCancelled
	})
	t.Unpaid.List = slices.DeleteFunc(t.Unpaid.List, func(b booking.Booking) bool {
		return b.Status == booking.StatusCancelled
	})
	t.Out.List = slices.DeleteFunc(t.Out.List, func(r rental.Reservation) bool { return r.EndDate > t.Date })
	return t, nil
}

func (o *UseCases) bookingsOf(ctx context.Context, by peers.Principal, business *catalog.Offer,
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

func (o *UseCases) reservationsOf(ctx context.Context, by peers.Principal, business *catalog.Offer,
	part *peers.Part[rental.Reservation], filter rental.Filter) func() error {
	return func() error {
		list, err := o.reservationsIn(ctx, by, business, filter, request.Page{Limit: mostToday})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Reservations, list.NextCursor, nil)
	}
}

// Details has all data of one booking.
type Details struct {
	Booking  booking.Booking
	History  peers.Part[event.Event]           // newest first
	Messages peers.Part[notifications.Message] // newest first
}

// Booking returns a booking, with the data that the principal's role may see. Fault: not_found, also for the booking of
// another member if the principal may see only their own.
func (o *UseCases) Booking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) (*booking.Booking,
	error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	found, err := o.Bookings.Booking(ctx, business.ID, id)
	if err != nil {
		return nil, err
	}
	switch by.Reach(business.ID, access.SeeBookings) {
	case access.Own:
		self, _ := by.In(business.ID)
		if _, _, performs := found.PerformedBy(self.StaffID); !performs {
			return nil, fault.New(fault.NotFound, "Booking not found")
		}
	case access.NoContact:
		removeContact(found)
	default: // the principal sees the whole booking, or was refused above
	}
	return found, nil
}

// mostHistory is the maximum number of shown events of a booking, and of its messages.
const mostHistory = 50

// Details reads all data of a booking that the principal may see. The data of an unavailable service is marked as
// unknown. Faults: not_found.
func (o *UseCases) Details(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) (*Details, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	d := &Details{}
	asks := []func() error{func() error {
		found, err := o.Booking(ctx, by, slug, id)
		if err == nil {
			d.Booking = *found
		}
		return err
	}}
	if by.Reach(business.ID, access.SeeCustomers) != access.None {
		asks = append(asks, o.historyOf(ctx, slug, id, &d.History), o.messagesAbout(ctx, slug, id, &d.Messages))
	}
	return d, peers.Together(asks...)
}

// historyOf returns a function that reads the events of the object with this id.
func (o *UseCases) historyOf(ctx context.Context, slug string, id uuid.UUID,
	part *peers.Part[event.Event]) func() error {
	return func() error {
		list, err := o.Events(ctx, slug, event.Filter{Subject: id}, request.Page{Limit: mostHistory})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Events, list.NextCursor, nil)
	}
}

// messagesAbout returns a function that reads the messages about the object with this id.
func (o *UseCases) messagesAbout(ctx context.Context, slug string, id uuid.UUID,
	part *peers.Part[notifications.Message]) func() error {
	return func() error {
		list, err := o.Messages(ctx, slug, notifications.MessageFilter{About: id}, request.Page{Limit: mostHistory})
		if err != nil {
			return peers.SetPart(ctx, o.Logger, part, nil, "", err)
		}
		return peers.SetPart(ctx, o.Logger, part, list.Messages, list.NextCursor, nil)
	}
}

// MostExported is the maximum number of entries of an exported list.
const MostExported = 20_000

// ExportBookings reads all bookings that a filter matches, and calls take with each page. Fault: conflict if there are
// more than [MostExported].
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

// export reads all pages of a list, calls take with each page, and returns the number of entries. what is the word for
// the entries in the error message. Fault: conflict if there are more than [MostExported].
func export[T any](what string, take func([]T), list func(request.Page) ([]T, string, error)) (int, error) {
	page, taken := request.Page{Limit: 1000}, 0
	for {
		entries, next, err := list(page)
		if err != nil {
			return taken, err
		}
		if taken += len(entries); taken > MostExported {
			return taken, fault.Newf(fault.Conflict, "These are more than %d %s; choose fewer by a narrower filter.",
				MostExported, what)
		}
		take(entries)
		if page.Cursor = next; next == "" {
			return taken, nil
		}
	}
}
