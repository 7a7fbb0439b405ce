package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Reserve reserves units of a rental for a customer. The rental service finds the business by its slug, so that an
// operator can reserve while catalog is unavailable.
func (o *UseCases) Reserve(ctx context.Context, by peers.Principal, slug string,
	newReservation rental.NewReservation) (*rental.Reservation, error) {
	// If the request was authorized for one business, this business must still have the slug. Without this check, the
	// reservation could be made at another business that got the slug in the meantime.
	if access.HasBusiness(ctx) {
		if _, err := o.FindBusiness(ctx, slug); err != nil {
			return nil, err
		}
	}
	reservation, err := o.Rentals.Reserve(ctx, slug, newReservation)
	if err == nil {
		o.LogChange(ctx, by, "create reservation", slug, slog.String("reservation_id", reservation.ID.String()))
	}
	return reservation, err
}

// ReadReservationFilter reads a filter from the query parameters from, to, status and payment. The rental service
// checks the status. Fault: invalid_parameter.
func ReadReservationFilter(q request.Query) (rental.Filter, error) {
	var (
		f   rental.Filter
		err error
	)
	if f.From, f.To, err = q.OptionalDates("from", "to"); err != nil {
		return f, err
	}
	if f.Status, err = q.Text("status"); err != nil {
		return f, err
	}
	f.Payment, err = bookingclient.ReadPayment(q)
	return f, err
}

// ExportReservations reads all reservations that a filter matches, and calls the function `take` with each page of
// reservations. Fault: conflict if there are more than [MaxExported] reservations.
func (o *UseCases) ExportReservations(ctx context.Context, by peers.Principal, slug string, filter rental.Filter,
	take func([]rental.Reservation)) error {
	n, err := export("reservations", take, func(page request.Page) ([]rental.Reservation, string, error) {
		list, err := o.ListReservations(ctx, by, slug, filter, page)
		if err != nil {
			return nil, "", err
		}
		return list.Reservations, list.NextCursor, nil
	})
	if err == nil {
		o.LogChange(ctx, by, "export reservations", slug, slog.Int("reservations", n))
	}
	return err
}

// TransitionReservation changes the status of a reservation. The argument `transition` is the name of the transition,
// for example "pickup". To cancel a reservation, call [Orders.Cancel] instead.
func (o *UseCases) TransitionReservation(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	transition string) (*rental.Reservation, error) {
	rentals, err := o.OpenRentals(ctx, by, slug)
	if err != nil {
		return nil, err
	}
	reservation, err := rentals.Transition(ctx, slug, id, transition)
	if err == nil {
		o.LogChange(ctx, by, transition+" reservation", slug, slog.String("reservation_id", id.String()),
			slog.String("status", reservation.Status))
	}
	return reservation, err
}
