package catalogue

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The ids in the example payloads.
var (
	business    = uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad91")
	theBooking  = uuid.MustParse("0193a0d5-0a3e-7c11-9a52-5f5a8d1b7c21")
	ticket      = uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad95")
	reservation = uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad94")
	apiKey      = uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad92")
	endpoint    = uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad96")
	service     = uuid.MustParse("45c48cce-2e2d-5fbd-aa1a-fc51c7c6ad26")
	member      = uuid.MustParse("6512bd43-d9ca-5e02-8c21-9b5b3a3f1a02")
	show        = uuid.MustParse("5b0c2f3e-6f0b-5d3f-8e0a-0d3c7a9b1e21")
	tier        = uuid.MustParse("8c7d1f52-7f6d-5a9b-9c43-2f1e5d6a7b32")
	kayak       = uuid.MustParse("d3d94468-02a4-5259-955d-4e6f7a8b1a05")
)

// The times and texts that several example payloads contain.
var (
	created = time.Date(2026, time.November, 21, 9, 0, 0, 0, time.UTC)
	changed = time.Date(2026, time.November, 21, 9, 5, 0, 0, time.UTC)
	email   = "ada@example.com"
	phone   = "+351 210 000 000"
	answers = json.RawMessage(`{"allergies":"none"}`)
)

const (
	customer = "Ada Example"
	lisbon   = "Europe/Lisbon"
	euro     = "EUR"
	provider = "stripe"
)

func pointer[T any](value T) *T { return &value }

// newBooking returns a booking that waits for its payment.
func newBooking() booking.Booking {
	starts := time.Date(2026, time.December, 1, 10, 0, 0, 0, time.UTC)
	return booking.Booking{
		ID: theBooking, Status: booking.StatusPending,
		Date: "2026-12-01", StartTime: "10:00:00", EndTime: "11:00:00", StartsAt: starts, EndsAt: starts.Add(time.Hour),
		Timezone: lisbon,
		Services: []booking.BookedService{{ID: service, Name: "Massage", DurationMinutes: 60, Price: "60.00"}},
		StaffID:  &member, StaffName: pointer("Inês"), PartySize: 1, Total: "60.00", Currency: euro, Source: "page",
		CustomerName: customer, CustomerEmail: email, CustomerPhone: &phone, FormData: answers, Locale: "en",
		CreatedAt: created, UpdatedAt: created, Sequence: 1, StaffRequested: true,
		Payment: newPayment(booking.PaymentOpen),
	}
}

func newPayment(status string) *booking.Payment {
	p := &booking.Payment{Provider: provider, Status: status, Amount: "60.00", Refunded: "0.00"}
	if status == booking.PaymentOpen {
		p.DueAt = pointer(created.Add(30 * time.Minute))
	}
	return p
}

// newChangedBooking returns the booking after a change, with its new status, sequence number and payment.
func newChangedBooking(status string, sequence int, p *booking.Payment) booking.Booking {
	b := newBooking()
	b.Status, b.UpdatedAt, b.Sequence, b.Payment = status, changed, sequence, p
	return b
}

func newConfirmedBooking() booking.Booking {
	return newChangedBooking(booking.StatusConfirmed, 3, newPayment(booking.PaymentPaid))
}

func newRescheduled() booking.Rescheduled {
	b := newChangedBooking(booking.StatusConfirmed, 4, newPayment(booking.PaymentPaid))
	from := booking.BookedTime{
		Date: b.Date, StartTime: b.StartTime, EndTime: b.EndTime, StartsAt: b.StartsAt, EndsAt: b.EndsAt,
		StaffID: b.StaffID, StaffName: b.StaffName,
	}
	to := from
	to.StartTime, to.EndTime, to.StartsAt, to.EndsAt = "14:00:00", "15:00:00", b.StartsAt.Add(4*time.Hour),
		b.EndsAt.Add(4*time.Hour)
	b.StartTime, b.EndTime, b.StartsAt, b.EndsAt = to.StartTime, to.EndTime, to.StartsAt, to.EndsAt
	return booking.Rescheduled{Booking: b, From: from, To: to}
}

func newRelocated() booking.Rescheduled {
	r := newRescheduled()
	b := newChangedBooking(booking.StatusConfirmed, 4, newPayment(booking.PaymentPaid))
	r.To = r.From
	r.From.Location = &booking.BookedLocation{ID: uuid.MustParse("3c59dc04-8e88-5024-8be8-079a5c74d079"), Kind: "place",
		Name: "Studio at the harbor"}
	r.To.Location = &booking.BookedLocation{ID: uuid.MustParse("b6d767d2-f8ed-5d21-844b-0e5886680cb9"), Kind: "place",
		Name: "Studio at the station"}
	b.Location = r.To.Location
	r.Booking = b
	return r
}

// newRefundedPayment returns a payment of a booking. Half of the payment was
// refunded. The argument `status` is the status of the refund.
func newRefundedPayment(status string) *booking.Payment {
	p := newPayment(booking.PaymentPaid)
	p.Refund = &booking.Refund{Amount: "30.00", Percent: 50, Status: status}
	switch status {
	case booking.RefundRefunded:
		p.Refunded = "30.00"
	case booking.RefundRefused:
		p.Refund.Reason = "charge_disputed"
	}
	return p
}

func newCancelledBooking() booking.Booking {
	return newChangedBooking(booking.StatusCancelled, 4, newRefundedPayment(booking.RefundPending))
}

// newWithdrawnBooking returns a booking whose class session the business has withdrawn.
func newWithdrawnBooking() booking.Booking {
	b := newConfirmedBooking()
	b.Sequence, b.Withdrawn = 4, true
	return b
}

func newEndedBooking(status string) booking.Booking {
	return newChangedBooking(status, 4, newPayment(booking.PaymentPaid))
}

func newPaidBooking() booking.Booking {
	return newChangedBooking(booking.StatusPending, 2, newPayment(booking.PaymentPaid))
}

func newFailedBooking() booking.Booking {
	return newChangedBooking(booking.StatusPending, 2, newPayment(booking.PaymentOpen))
}

func newExpiredBooking() booking.Booking {
	return newChangedBooking(booking.StatusPending, 2, newPayment(booking.PaymentCancelled))
}

func newRefundedBooking(status string, sequence int) booking.Booking {
	return newChangedBooking(booking.StatusCancelled, sequence, newRefundedPayment(status))
}

func newDisputedBooking() booking.Booking {
	p := newPayment(booking.PaymentPaid)
	p.Dispute = &booking.Dispute{Status: booking.DisputeOpen, Reason: "fraudulent"}
	return newChangedBooking(booking.StatusConfirmed, 4, p)
}

// newTicket returns an order of tickets with the given status. The argument `p` is the status of the order's payment.
func newTicket(status string, p string) booking.Ticket {
	order := booking.Ticket{
		ID: ticket, Status: status, EventID: show, EventName: "New Year Gala", TierID: tier, TierName: "VIP",
		Tiers: []booking.SoldTier{{TierID: tier, TierName: "VIP", Quantity: 2, Price: pointer(json.Number("30.00"))}},
		Date:  "2026-12-31", StartTime: "20:00:00", Timezone: lisbon, Quantity: 2, Total: pointer(json.Number("60.00")),
		Currency:     euro,
		CustomerName: customer, CustomerEmail: &email, CustomerPhone: &phone, FormData: answers, Locale: "en",
		CreatedAt: created,
	}
	order.Payment = newPayment(p)
	return order
}

func newRescheduledTicket() booking.RescheduledTicket {
	starts := time.Date(2026, time.December, 31, 20, 0, 0, 0, time.UTC)
	from := booking.TicketTime{Date: "2026-12-31", StartTime: "20:00:00", StartsAt: starts,
		EndsAt: starts.Add(5 * time.Hour)}
	to := booking.TicketTime{Date: "2026-12-31", StartTime: "21:00:00", StartsAt: starts.Add(time.Hour),
		EndsAt: starts.Add(6 * time.Hour)}
	order := newTicket(booking.StatusSold, booking.PaymentPaid)
	order.StartTime = to.StartTime
	return booking.RescheduledTicket{Ticket: order, From: from, To: to}
}

func newWithdrawnTicket() booking.Ticket {
	order := newTicket(booking.StatusSold, booking.PaymentPaid)
	order.Withdrawn = true
	return order
}

func newCancelledTicket() booking.Ticket {
	order := newTicket(booking.StatusCancelled, booking.PaymentPaid)
	order.CancelledAt, order.Payment = &changed, newRefundedPayment(booking.RefundPending)
	return order
}

func newReservation(status string) rental.Reservation {
	date := timespan.NewDate(2026, time.December, 1)
	r := rental.Reservation{
		ID: reservation, RentalID: kayak, RentalName: "Kayak", Status: status, Quantity: 2, StartDate: date,
		EndDate:   date,
		StartTime: pointer(timespan.TimeOfDay(10 * 60)), EndTime: pointer(timespan.TimeOfDay(12 * 60)),
		Extras: []rental.Extra{}, Units: []rental.Unit{},
		Price: pointer(json.Number("60.00")), Total: pointer(json.Number("60.00")), Currency: euro, Timezone: lisbon,
		CustomerName: customer, CustomerEmail: &email, CustomerPhone: &phone, FormData: answers, Locale: "en",
		Payment: newPayment(booking.PaymentPaid), CreatedAt: created, UpdatedAt: changed,
	}
	switch status {
	case rental.StatusPending:
		r.Payment, r.UpdatedAt = newPayment(booking.PaymentOpen), created
	case rental.StatusPickedUp, rental.StatusReturned:
		r.Units = []rental.Unit{{RentalID: kayak, Unit: "k1"}, {RentalID: kayak, Unit: "k2"}}
	case rental.StatusCancelled:
		r.Payment = newRefundedPayment(booking.RefundPending)
	}
	return r
}

func newWithdrawnReservation() rental.Reservation {
	r := newReservation(rental.StatusReserved)
	r.Withdrawn = true
	return r
}

func newBusiness(version int64) catalog.Business {
	return catalog.Business{ID: business, Slug: Slug, Name: "Harbor Studio", Version: version, UpdatedAt: changed}
}

// newErased returns the numbers of bookings and orders of an anonymized customer.
func newErased() any {
	return struct {
		Bookings int  `json:"bookings"`
		Tickets  int  `json:"tickets"`
		Forced   bool `json:"forced"`
	}{Bookings: 3, Tickets: 1}
}

func key(revoked bool) booking.Key {
	k := booking.Key{ID: apiKey, Name: "site", Scope: booking.ScopeWrite, Prefix: "1f2e3d4c", CreatedAt: created}
	if revoked {
		k.RevokedAt = &changed
	}
	return k
}
