package usecase

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/charge"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// ChargedReservations is the part of the store that reads and changes
// reservations with a charge; [store.Store] documents its methods.
type ChargedReservations interface {
	ReleaseUnfinished(ctx context.Context, now time.Time) (int, error)
	Unfinished(ctx context.Context, after booking.ReservationID, limit int) ([]store.Charged, error)
	Told(ctx context.Context, businessID, id uuid.UUID, said booking.Charge, now time.Time) ([]event.Type, error)
	Counted(ctx context.Context, limit int) ([]booking.ReservationID, error)
	Uncounted(ctx context.Context, of booking.ReservationID) error
}

var _ ChargedReservations = (*store.Store)(nil)

// Reconciliation keeps reservations consistent with their charges, which booking stores. It asks booking
// for the state of open charges. It requests that booking closes or refunds the charges of cancelled
// reservations, until booking accepts each request. It cancels reservations whose charge was never opened.
//
// If booking does not answer about a charge, the reservation stays unchanged.
type Reconciliation struct {
	reservations ChargedReservations
	charges      Charges
	clock        clock.Clock
	tel          *telemetry.Telemetry
	outcomes     metric.Int64Counter
}

// NewReconciliation returns a Reconciliation. The argument `charges` calls booking.
func NewReconciliation(reservations ChargedReservations, charges Charges, c clock.Clock,
	tel *telemetry.Telemetry) *Reconciliation {
	return &Reconciliation{
		reservations: reservations, charges: charges, clock: c, tel: tel,
		outcomes: tel.Counter("slotmesh.rental.charges",
			"What became of charges of reservations: released, failed where booking could not be told, or the event."),
	}
}

// Ask cancels reservations whose charge was not opened in time. It then asks
// booking for the state of all charges that are not final, and stores the answers.
func (r *Reconciliation) Ask(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	released, err := r.reservations.ReleaseUnfinished(ctx, r.clock.Now())
	r.count(ctx, "released", released)
	return errors.Join(err, r.each(ctx, func(found []store.Charged) error {
		asked := make([]booking.ReservationID, len(found))
		for i, c := range found {
			asked[i] = c.ReservationID
		}
		said, err := r.charges.Charges(ctx, asked)
		if err != nil {
			return err
		}
		return bulkhead.Each(ctx, said, func(ctx context.Context, s booking.ReservationCharge) error {
			return r.note(ctx, s.ReservationID, s.Charge)
		})
	}))
}

// Learn stores what the provider reported about charges after they were paid, such as disputes and refunds
// made at the provider. If a report cannot be stored, booking returns the same report again at the next run.
func (r *Reconciliation) Learn(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	news, err := r.charges.News(ctx)
	if err != nil || len(news) == 0 {
		return err
	}
	var (
		noted []booking.NotedCharge
		first error
	)
	for _, n := range news {
		err := r.note(ctx, n.ReservationID, n.Charge)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // an erased reservation has nothing to store
			first = cmp.Or(first, err)
			continue
		}
		noted = append(noted, booking.NotedCharge{ReservationID: n.ReservationID, News: n.News})
	}
	if len(noted) == 0 {
		return first
	}
	return errors.Join(first, r.charges.Noted(ctx, noted))
}

// Tell asks booking to close the charges of cancelled reservations and
// to make pending refunds. If a request fails, the next run repeats it.
func (r *Reconciliation) Tell(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	return r.each(ctx, func(found []store.Charged) error {
		for _, c := range found {
			off, closing := charge.Closing(c.Charge)
			if !closing {
				continue
			}
			if err := r.close(ctx, c, off); err != nil {
				r.count(ctx, "failed", 1)
				r.tel.Logger.WarnContext(ctx, "a charge is not closed for now", "reservation", c.ID, "error", err)
				if fault.Is(err, fault.PeerUnavailable) {
					return err
				}
			}
		}
		return nil
	})
}

// maxUncounted is the maximum number of reservations that one run of [Reconciliation.Uncount] reports to booking.
const maxUncounted = 500

// Uncount asks booking to remove returned and cancelled reservations from the open
// bookings of their customers. Booking limits the number of open bookings of a customer.
func (r *Reconciliation) Uncount(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	over, err := r.reservations.Counted(ctx, maxUncounted)
	if err != nil {
		return err
	}
	for _, of := range over {
		if err := r.charges.Uncount(ctx, of.BusinessID, of.ID); err != nil {
			return err
		}
		if err := r.reservations.Uncounted(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// close requests that booking closes or refunds one charge, and stores booking's answer. If
// booking does not have the charge, close stores it as cancelled, because it cannot be paid.
func (r *Reconciliation) close(ctx context.Context, c store.Charged, off booking.CloseCharge) error {
	said, err := r.charges.Close(ctx, c.BusinessID, c.ID, off)
	switch {
	case fault.Is(err, fault.NotFound):
		none := c.Charge
		none.Status = booking.ChargeCancelled
		said = &none
	case err != nil:
		return err
	}
	return r.note(ctx, c.ReservationID, *said)
}

// each calls the function `do` with the charges that are not final, up to
// [booking.MaxCharges] in one call, until all are done. It returns the first error. After
// an error, each continues with the next charges, but stops if booking is not available.
func (r *Reconciliation) each(ctx context.Context, do func([]store.Charged) error) error {
	var (
		after booking.ReservationID
		first error
	)
	for {
		found, err := r.reservations.Unfinished(ctx, after, booking.MaxCharges)
		if err != nil || len(found) == 0 {
			return cmp.Or(err, first)
		}
		err = do(found)
		if fault.Is(err, fault.PeerUnavailable) {
			return err
		}
		first = cmp.Or(first, err)
		after = found[len(found)-1].ReservationID
	}
}

// note stores the argument `said`, a charge as booking reported it, and
// counts the recorded events. It logs a refund that the provider refused.
func (r *Reconciliation) note(ctx context.Context, of booking.ReservationID, said booking.Charge) error {
	told, err := r.reservations.Told(ctx, of.BusinessID, of.ID, said, r.clock.Now())
	for _, e := range told {
		if e != "" {
			r.count(ctx, string(e), 1)
		}
	}
	if len(told) > 0 && said.RefundStatus == booking.RefundRefused {
		r.tel.Logger.WarnContext(ctx, "the payment provider refused a refund", "reservation", of.ID, "refund",
			said.RefundNumber, "reason", said.RefundReason)
	}
	return err
}

// Look asks booking for the charge of one reservation that is about to be shown, and stores the answer.
// It waits at most lookWithin. If there is no answer in time, the caller shows the stored state.
func (r *Reconciliation) Look(ctx context.Context, of booking.ReservationID, known *booking.Charge) {
	if known == nil || known.Status == booking.ChargeCreating {
		return
	}
	asking, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	said, err := r.charges.Charges(asking, []booking.ReservationID{of})
	for _, s := range said {
		if err == nil && s.ReservationID == of {
			err = r.note(ctx, of, s.Charge)
		}
	}
	if err != nil {
		r.tel.Logger.WarnContext(ctx, "a charge is shown as it was known", "reservation", of.ID, "error", err)
	}
}

// lookWithin is the longest time that a page waits for the current state of a charge.
const lookWithin = time.Second

func (r *Reconciliation) count(ctx context.Context, outcome string, n int) {
	r.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}
