package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// find returns the booking whose id is in the path of the request. Fault: not_found.
func (s *Booking) find(r *http.Request) (*booking.Booking, error) {
	bookings := s.bookings[r.PathValue("business")]
	i := slices.IndexFunc(bookings, func(b booking.Booking) bool { return b.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Booking not found")
	}
	return &bookings[i], nil
}

func (s *Booking) showBooking(r *http.Request) (*reply, error) {
	b, err := s.find(r)
	if err != nil {
		return nil, err
	}
	return newReply(*b)
}

func (s *Booking) previewCancellation(r *http.Request) (*reply, error) {
	b, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if b.Status == booking.StatusCancelled {
		return newReply(booking.Cancellation{Reason: b.Status, Refund: booking.CancellationRefund{Amount: "0.00",
			Currency: b.Currency}})
	}
	until := Epoch
	return newReply(booking.Cancellation{Allowed: true, Refund: booking.CancellationRefund{Amount: "20.00", Percent: 50,
		Currency: b.Currency}, Until: &until})
}

func (s *Booking) cancel(r *http.Request) (*reply, error) {
	b, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if b.Status != booking.StatusPending && b.Status != booking.StatusConfirmed {
		return nil, fault.Newf(fault.Conflict, "A %s booking cannot be moved so.", b.Status)
	}
	b.Status = booking.StatusCancelled
	return s.refundBooking(r, b)
}

func (s *Booking) refund(r *http.Request) (*reply, error) {
	b, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed {
		return nil, fault.New(fault.Conflict, "The booking lies ahead; cancel it.")
	}
	return s.refundBooking(r, b)
}

// refundBooking gives a booking an online payment of 40.00, and refunds this payment as the request asks. The amount
// that the cancellation policy refunds is half of the payment.
func (s *Booking) refundBooking(r *http.Request, b *booking.Booking) (*reply, error) {
	b.Payment = &booking.Payment{Provider: "stripe", Status: booking.PaymentPaid, Amount: "40.00", Refunded: "0.00"}
	var err error
	if b.Payment.Refund, err = parseRefund(r, b.Payment.Amount, "20.00"); err != nil {
		return nil, err
	}
	return newReply(*b)
}

// parseRefund returns the refund that a request asks for, or nil if the request asks for no refund. The argument `paid`
// is the amount that was paid online. The argument `defaultAmount` is the refundable amount of the cancellation policy.
// The refund has this amount if the request names no amount.
func parseRefund(r *http.Request, paid, defaultAmount json.Number) (*booking.Refund, error) {
	var cancel booking.Cancel
	if err := json.NewDecoder(r.Body).Decode(&cancel); err != nil {
		return nil, err
	}
	amount := json.Number(cancel.Refund)
	switch cancel.Refund {
	case booking.RefundNone:
		return nil, nil
	case booking.RefundFull:
		amount = paid
	case booking.RefundPolicy, "":
		amount = defaultAmount
	}
	return &booking.Refund{Amount: amount, Percent: 50, Status: booking.RefundPending}, nil
}
