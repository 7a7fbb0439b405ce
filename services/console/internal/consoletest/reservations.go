package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Add adds a reservation to the reservations of the fake. The business of the reservation has the slug harbor.
func (s *Rental) Add(r rental.Reservation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reservations = append(s.reservations, r)
}

// find returns the reservation whose id is in the path of the request. Fault: not_found.
func (s *Rental) find(r *http.Request) (*rental.Reservation, error) {
	i := slices.IndexFunc(s.reservations, func(one rental.Reservation) bool {
		return one.ID.String() == r.PathValue("id")
	})
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Reservation not found")
	}
	return &s.reservations[i], nil
}

func (s *Rental) showReservation(r *http.Request) (*reply, error) {
	one, err := s.find(r)
	if err != nil {
		return nil, err
	}
	return newReply(*one)
}

// isExpected reports whether the customer has not picked up the reservation yet, so that it can still be cancelled.
func isExpected(r *rental.Reservation) bool {
	return r.Status == rental.StatusPending || r.Status == rental.StatusReserved
}

// previewCancellation previews the cancellation of a reservation. If the customer has paid online, the refundable
// amount of the preview is 10.00.
func (s *Rental) previewCancellation(r *http.Request) (*reply, error) {
	one, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if !isExpected(one) {
		return newReply(booking.Cancellation{Reason: one.Status, Refund: booking.CancellationRefund{Amount: "0.00",
			Currency: "EUR"}})
	}
	return newReply(booking.Cancellation{Allowed: true, Refund: booking.CancellationRefund{Amount: "10.00", Percent: 50,
		Currency: "EUR"}})
}

func (s *Rental) cancel(r *http.Request) (*reply, error) {
	one, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if !isExpected(one) {
		return nil, fault.Newf(fault.Conflict, "The reservation is %s.", one.Status)
	}
	one.Status = rental.StatusCancelled
	return refundReservation(r, one, "10.00")
}

func (s *Rental) refund(r *http.Request) (*reply, error) {
	one, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if isExpected(one) {
		return nil, fault.Newf(fault.Conflict, "The reservation is %s; cancel it, which refunds it.", one.Status)
	}
	return refundReservation(r, one, "20.00")
}

// refundReservation refunds the online payment of a reservation as the request asks. The argument `defaultAmount` is
// the refund if the request names no amount.
func refundReservation(r *http.Request, one *rental.Reservation, defaultAmount json.Number) (*reply, error) {
	if one.Payment != nil {
		refund, err := parseRefund(r, one.Payment.Amount, defaultAmount)
		if err != nil {
			return nil, err
		}
		one.Payment.Refund = refund
	}
	return newReply(*one)
}
