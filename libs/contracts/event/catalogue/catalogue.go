// Package catalogue describes the types of events that webhooks send. For each type it
// holds a sentence on when the event is sent, and an example payload. The examples are
// encoded from the same Go types that the services send, so their members are complete.
package catalogue

import (
	"encoding/json"
	"fmt"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
)

// Slug is the slug of the business in all example payloads.
const Slug = "harbor-studio"

// Test is the type of the event that is sent when an owner tests a webhook endpoint.
const Test event.Type = "webhook.test"

// Entry describes one type of event.
type Entry struct {
	Type    event.Type
	Summary string // when the event is sent, in one sentence
	// Schema is the name of the schema for the event's data in the
	// OpenAPI document of the admin API. It is "" if there is no schema.
	Schema string
	// The field `sequence` is the sequence number in the example payload. The
	// field `data` is the booking, order or other subject after the change.
	sequence int
	data     any
}

// Payload returns the example payload, in the form of [event.Event.Webhook].
func (e Entry) Payload() ([]byte, error) {
	data, err := json.Marshal(e.data)
	if err != nil {
		return nil, fmt.Errorf("the payload of %s: %w", e.Type, err)
	}
	return event.Event{Type: e.Type, BusinessID: business, At: changed, Sequence: e.sequence, Data: data}.Webhook(Slug)
}

// The names of schemas in the OpenAPI document of the admin API.
const (
	bookingSchema     = "Booking"
	ticketSchema      = "Ticket"
	reservationSchema = "Reservation"
	businessSchema    = "BusinessLine"
	keySchema         = "Key"
)

// Entries has an entry for each of [event.Types], in the same order, and then one for [Test].
var Entries = []Entry{
	{
		event.BookingCreated, "A booking is made; one that is paid online, when its payment can begin.",
		bookingSchema, 1, newBooking(),
	},
	{
		event.BookingConfirmed, "A pending booking is confirmed, by the owner or by its payment.",
		bookingSchema, 3, newConfirmedBooking(),
	},
	{
		event.BookingRescheduled, "A booking is at another time or with another member; from and to are both " +
			"times.",
		bookingSchema, 4, newRescheduled(),
	},
	{
		event.BookingRelocated, "The business changes the location of a booking; from and to are both locations. If " +
			"only the address of the place changes, the name of the location in from is the former address.",
		bookingSchema, 4, newRelocated(),
	},
	{
		event.BookingWithdrawn, "The business withdraws the class session of a booking.",
		bookingSchema, 4, newWithdrawnBooking(),
	},
	{
		event.BookingRestored, "The class session of a withdrawn booking takes place after all.",
		bookingSchema, 5, newConfirmedBooking(),
	},
	{
		event.BookingCancelled, "A booking is cancelled, by the customer, by the owner or because its payment " +
			"expired.",
		bookingSchema, 4, newCancelledBooking(),
	},
	{
		event.BookingCompleted, "The owner marks that the customer came.",
		bookingSchema, 4, newEndedBooking(booking.StatusCompleted),
	},
	{
		event.BookingNoShow, "The owner marks that the customer did not come.",
		bookingSchema, 4, newEndedBooking(booking.StatusNoShow),
	},
	{
		event.BookingReopened, "The owner takes back that the customer came, or did not come.",
		bookingSchema, 5, newConfirmedBooking(),
	},
	{
		event.PaymentSucceeded, "A booking, an order of tickets or a reservation is paid. The data is the one " +
			"that is paid.",
		bookingSchema, 2, newPaidBooking(),
	},
	{
		event.PaymentFailed, "The provider refused an attempt to pay. The customer can try again.",
		bookingSchema, 2, newFailedBooking(),
	},
	{
		event.PaymentExpired, "The time to pay is over.",
		bookingSchema, 2, newExpiredBooking(),
	},
	{
		event.PaymentRefunded, "The provider made a refund.",
		bookingSchema, 5, newRefundedBooking(booking.RefundRefunded, 5),
	},
	{
		event.PaymentRefundFailed, "The provider refused a refund, perhaps after it reported it as made.",
		bookingSchema, 5, newRefundedBooking(booking.RefundRefused, 5),
	},
	{
		event.PaymentDisputed, "The customer disputes a payment at the bank, or the dispute has ended.",
		bookingSchema, 4, newDisputedBooking(),
	},
	{
		event.TicketCreated, "An order of tickets waits for its payment.",
		ticketSchema, 1, newTicket(booking.StatusPending, booking.PaymentOpen),
	},
	{
		event.TicketSold, "An order of tickets is sold; one that is paid online, when it is paid.",
		ticketSchema, 3, newTicket(booking.StatusSold, booking.PaymentPaid),
	},
	{
		event.TicketRescheduled, "The event of an order is at another time; from and to are both times.",
		ticketSchema, 4, newRescheduledTicket(),
	},
	{
		event.TicketWithdrawn, "The business no longer offers the event of an order.",
		ticketSchema, 4, newWithdrawnTicket(),
	},
	{
		event.TicketCancelled, "An order of tickets is cancelled.",
		ticketSchema, 4, newCancelledTicket(),
	},
	{
		event.ReservationCreated, "A rental is reserved; one that is paid online, when its payment can begin.",
		reservationSchema, 1, newReservation(rental.StatusPending),
	},
	{
		event.ReservationConfirmed, "A reservation is paid.",
		reservationSchema, 3, newReservation(rental.StatusReserved),
	},
	{
		event.ReservationWithdrawn, "The business no longer offers what is reserved.",
		reservationSchema, 4, newWithdrawnReservation(),
	},
	{
		event.ReservationRestored, "The business offers again what a withdrawn reservation is about.",
		reservationSchema, 5, newReservation(rental.StatusReserved),
	},
	{
		event.ReservationPickedUp, "The customer picked up what was reserved.",
		reservationSchema, 4, newReservation(rental.StatusPickedUp),
	},
	{
		event.ReservationReturned, "The customer returned what was reserved.",
		reservationSchema, 5, newReservation(rental.StatusReturned),
	},
	{
		event.ReservationCancelled, "A reservation is cancelled.",
		reservationSchema, 4, newReservation(rental.StatusCancelled),
	},
	{
		event.BusinessPublished, "The business publishes a version of its manifest.",
		businessSchema, 7, newBusiness(7),
	},
	{
		event.BusinessRemoved, "The business is removed.",
		businessSchema, 8, newBusiness(7),
	},
	{
		event.CustomerErased, "The data of a customer is erased. The data counts what the customer had.",
		"", 1, newErased(),
	},
	{
		event.KeyCreated, "An API key is made.",
		keySchema, 1, key(false),
	},
	{
		event.KeyRevoked, "An API key is revoked.",
		keySchema, 2, key(true),
	},
	{
		Test, "An owner checks an endpoint.",
		"", 1, map[string]string{"webhook_id": endpoint.String()},
	},
}
