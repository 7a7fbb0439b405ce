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
	"github.com/slotmesh/slotmesh/services/rental/internal/payment"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// PaymentRecords is the part of the store that reads and changes
// reservations with a payment; [store.Store] documents its methods.
type PaymentRecords interface {
	CancelUnopened(ctx context.Context, now time.Time) (int, error)
	UnfinishedPayments(ctx context.Context, after booking.ReservationID, limit int) ([]store.ReservationPayment, error)
	StoreReport(ctx context.Context, businessID, id uuid.UUID, report booking.PaymentState,
		now time.Time) ([]event.Type,
		error)
	ReservationsToUncount(ctx context.Context, limit int) ([]booking.ReservationID, error)
	MarkUncounted(ctx context.Context, of booking.ReservationID) error
}

var _ PaymentRecords = (*store.Store)(nil)

// Reconciliation keeps reservations consistent with their payments, which the booking service stores. It asks the
// booking service for the state of open payments. It requests that the booking service closes or refunds the payments
// of cancelled reservations, and repeats each request until the booking service accepts it. It cancels reservations
// whose payment was never opened.
//
// If the booking service does not answer about a payment, the reservation stays unchanged.
type Reconciliation struct {
	reservations PaymentRecords
	payments     Payments
	clock        clock.Clock
	tel          *telemetry.Telemetry
	outcomes     metric.Int64Counter
}

// NewReconciliation returns a Reconciliation. The argument `payments` is the client of the booking service's internal
// API.
func NewReconciliation(reservations PaymentRecords, payments Payments, c clock.Clock,
	tel *telemetry.Telemetry) *Reconciliation {
	return &Reconciliation{
		reservations: reservations, payments: payments, clock: c, tel: tel,
		outcomes: tel.Counter("slotmesh.rental.charges",
			"Results of reservation payments: released, failed if booking did not answer, or the event."),
	}
}

// RefreshPayments cancels reservations whose payment was not opened in time. It then asks the booking service for the
// state of all payments that are not final, and stores the answers.
func (r *Reconciliation) RefreshPayments(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	released, err := r.reservations.CancelUnopened(ctx, r.clock.Now())
	r.count(ctx, "released", released)
	return errors.Join(err, r.forEachBatch(ctx, func(payments []store.ReservationPayment) error {
		ids := make([]booking.ReservationID, len(payments))
		for i, c := range payments {
			ids[i] = c.ReservationID
		}
		reported, err := r.payments.List(ctx, ids)
		if err != nil {
			return err
		}
		return bulkhead.Each(ctx, reported, func(ctx context.Context, s booking.ReservationPayment) error {
			return r.storeReport(ctx, s.ReservationID, s.Payment)
		})
	}))
}

// StoreReports stores what the provider reported about payments after they were paid, such as disputes and refunds made
// at the provider. If a report cannot be stored, the booking service returns the same report again at the next run.
func (r *Reconciliation) StoreReports(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	news, err := r.payments.ListReports(ctx)
	if err != nil || len(news) == 0 {
		return err
	}
	var (
		acks  []booking.ReportAcknowledgement
		first error
	)
	for _, n := range news {
		err := r.storeReport(ctx, n.ReservationID, n.Payment)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // an erased reservation has nothing to store
			first = cmp.Or(first, err)
			continue
		}
		acks = append(acks, booking.ReportAcknowledgement{ReservationID: n.ReservationID, Reports: n.Reports})
	}
	if len(acks) == 0 {
		return first
	}
	return errors.Join(first, r.payments.AcknowledgeReports(ctx, acks))
}

// ClosePayments asks the booking service to close the payments of cancelled reservations and to make pending refunds.
// If a request fails, the next run repeats it.
func (r *Reconciliation) ClosePayments(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	return r.forEachBatch(ctx, func(payments []store.ReservationPayment) error {
		for _, c := range payments {
			closeReq, mustClose := payment.NewCloseRequest(c.Payment)
			if !mustClose {
				continue
			}
			if err := r.closePayment(ctx, c, closeReq); err != nil {
				r.count(ctx, "failed", 1)
				r.tel.Logger.WarnContext(ctx, "a payment could not be closed; the next run retries", "reservation",
					c.ID, "error", err)
				if fault.Is(err, fault.PeerUnavailable) {
					return err
				}
			}
		}
		return nil
	})
}

// maxUncounted is the maximum number of reservations that one run of [Reconciliation.UncountReservations] reports to
// the booking service.
const maxUncounted = 500

// UncountReservations asks the booking service to remove returned and cancelled reservations from the open bookings of
// their customers. The booking service limits the number of open bookings of a customer.
func (r *Reconciliation) UncountReservations(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	over, err := r.reservations.ReservationsToUncount(ctx, maxUncounted)
	if err != nil {
		return err
	}
	for _, of := range over {
		if err := r.payments.UncountReservation(ctx, of.BusinessID, of.ID); err != nil {
			return err
		}
		if err := r.reservations.MarkUncounted(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// closePayment requests that the booking service closes or refunds one payment, and stores the booking service's
// answer. If the booking service does not have the payment, closePayment stores the payment as cancelled, because no
// customer can pay it.
func (r *Reconciliation) closePayment(ctx context.Context, c store.ReservationPayment,
	closeReq booking.ClosePayment) error {
	reported, err := r.payments.Close(ctx, c.BusinessID, c.ID, closeReq)
	switch {
	case fault.Is(err, fault.NotFound):
		none := c.Payment
		none.Status = booking.PaymentStateCancelled
		reported = &none
	case err != nil:
		return err
	}
	return r.storeReport(ctx, c.ReservationID, *reported)
}

// forEachBatch calls the function `do` with the payments that are not final, up to [booking.MaxReservationPayments] in
// one call, until all are done. It returns the first error. After an error, forEachBatch continues with the next
// payments, but stops if the booking service is not available.
func (r *Reconciliation) forEachBatch(ctx context.Context, do func([]store.ReservationPayment) error) error {
	var (
		after booking.ReservationID
		first error
	)
	for {
		payments, err := r.reservations.UnfinishedPayments(ctx, after, booking.MaxReservationPayments)
		if err != nil || len(payments) == 0 {
			return cmp.Or(err, first)
		}
		err = do(payments)
		if fault.Is(err, fault.PeerUnavailable) {
			return err
		}
		first = cmp.Or(first, err)
		after = payments[len(payments)-1].ReservationID
	}
}

// storeReport stores the argument `reported`, a payment as the booking service reported it. It adds the events that the
// store recorded for it to the metrics, and logs a refund that the provider refused.
func (r *Reconciliation) storeReport(ctx context.Context, of booking.ReservationID,
	reported booking.PaymentState) error {
	eventTypes, err := r.reservations.StoreReport(ctx, of.BusinessID, of.ID, reported, r.clock.Now())
	for _, e := range eventTypes {
		if e != "" {
			r.count(ctx, string(e), 1)
		}
	}
	if len(eventTypes) > 0 && reported.RefundStatus == booking.RefundRefused {
		r.tel.Logger.WarnContext(ctx, "the payment provider refused a refund", "reservation", of.ID, "refund",
			reported.RefundNumber, "reason", reported.RefundReason)
	}
	return err
}

// Refresh asks the booking service for the payment of one reservation that is about to be shown, and stores the answer.
// It waits at most refreshTimeout. If there is no answer in time, the caller shows the stored state.
func (r *Reconciliation) Refresh(ctx context.Context, of booking.ReservationID, stored *booking.PaymentState) {
	if stored == nil || stored.Status == booking.PaymentStateCreating {
		return
	}
	asking, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	payments, err := r.payments.List(asking, []booking.ReservationID{of})
	for _, s := range payments {
		if err == nil && s.ReservationID == of {
			err = r.storeReport(ctx, of, s.Payment)
		}
	}
	if err != nil {
		r.tel.Logger.WarnContext(ctx, "a payment is shown in its last stored state", "reservation", of.ID, "error", err)
	}
}

// refreshTimeout is the longest time that a page waits for the current state of a payment.
const refreshTimeout = time.Second

func (r *Reconciliation) count(ctx context.Context, outcome string, n int) {
	r.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}
