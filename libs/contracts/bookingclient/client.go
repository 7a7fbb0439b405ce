// Package bookingclient is the client of the booking service's internal API. [Client] is for
// other services, [Agents] for the MCP server, [ReservationPayments] for the rental service and [Links]
// for the customers' pages. The types of requests and responses are in libs/contracts/booking.
package bookingclient

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Caller sends requests to the booking service. *peer.Client implements it.
type Caller interface {
	endpoints.Caller
	Doer
}

// Client is the client of the booking service's internal API. Every method returns the fault
// that the booking service sent, or fault.PeerUnavailable if the booking service did not answer.
type Client struct{ peer Caller }

// NewClient returns a client that sends its requests through the argument `caller`.
func NewClient(caller Caller) *Client { return &Client{peer: caller} }

// Occupied returns the time that the active bookings of a business occupy within a
// window. The arguments `from` (included) and `to` (excluded) are the limits of the
// window. Both must be whole seconds, at most [booking.MaxOccupiedWindow] apart.
//
// The argument `asked` selects further data, and a booking whose time is left out.
func (c *Client) Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time,
	asked booking.OccupiedQuery) (*booking.Occupied, error) {
	before, after, _ := strings.Cut(ReadOccupied.Path, ":business")
	query := append(append(append(make([]byte, 0, 128), before...), businessID.String()...), after...)
	query = strconv.AppendInt(append(query, "?from="...), from.Unix(), 10)
	query = strconv.AppendInt(append(query, "&to="...), to.Unix(), 10)
	if asked.Seats {
		query = append(query, "&seats=true"...)
	}
	if asked.Locations {
		query = append(query, "&locations=true"...)
	}
	if asked.Except != nil {
		query = append(append(query, "&moving="...), asked.Except.String()...)
	}
	answer, err := c.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: string(query)})
	if err != nil {
		return nil, err
	}
	out := new(booking.Occupied)
	if err := out.UnmarshalBinary(answer.Body); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The booking service sent what cannot be read; try again "+
			"shortly.")
	}
	return out, nil
}

// NotifyPublished notifies the booking service that the argument `version` is the newest version of a business's offer.
// After the removal of the business, `version` is greater than every version of its offer. When Published has
// returned, the booking service sells nothing from an older version. Calls may be repeated and may arrive in any order.
func (c *Client) NotifyPublished(ctx context.Context, businessID uuid.UUID, version int64) error {
	wanted := endpoints.About(businessID, booking.PublishedOffer{Version: version})
	_, err := c.peer.Do(ctx, peer.Request{Method: StorePublished.Method, Path: StorePublished.URL(&wanted),
		Body: wanted.Body, Repeatable: true})
	return err
}

// StoreAddressChanges requests a message to each customer with a future booking at one of the places. The message has
// the former and the new address. For each version and place, customers get the message once, also if the call is
// repeated.
func (c *Client) StoreAddressChanges(ctx context.Context, businessID uuid.UUID, changes booking.AddressChanges) error {
	wanted := endpoints.About(businessID, changes)
	_, err := c.peer.Do(ctx, peer.Request{Method: StoreAddressChanges.Method, Path: StoreAddressChanges.URL(&wanted),
		Body: wanted.Body, Repeatable: true})
	return err
}

// CountRelocated returns the number of customers to whom [Client.StoreAddressChanges] would send a message.
func (c *Client) CountRelocated(ctx context.Context, businessID uuid.UUID,
	changes booking.AddressChanges) (int, error) {
	return count(CountRelocated.Call(ctx, c.peer, endpoints.About(businessID, changes)))
}

// CreateKey creates an API key. Only the response to this call contains the
// field Secret of the key. Faults: invalid_parameter.
func (c *Client) CreateKey(ctx context.Context, businessID uuid.UUID, key booking.NewKey) (*booking.Key, error) {
	return CreateKey.Call(ctx, c.peer, endpoints.About(businessID, key))
}

// Keys lists the API keys of a business, oldest first, including
// revoked ones. Faults: invalid_parameter for an invalid page.
func (c *Client) Keys(ctx context.Context, businessID uuid.UUID, page request.Page) (*booking.KeyList, error) {
	return ListKeys.Call(ctx, c.peer, newPageRequest(businessID, page))
}

// RevokeKey revokes an API key immediately. A key that is already revoked stays unchanged. Faults: not_found.
func (c *Client) RevokeKey(ctx context.Context, businessID, keyID uuid.UUID) error {
	return RevokeKey.Send(ctx, c.peer, KeyID{businessID, keyID})
}

// RevokeAllKeys revokes all API keys of a business. It is one step of the removal of a business.
func (c *Client) RevokeAllKeys(ctx context.Context, businessID uuid.UUID) error {
	return RevokeAllKeys.Send(ctx, c.peer, endpoints.OfBusiness{Business: businessID})
}

// Bookings lists the bookings that match the filter, in the order of their
// local starts. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) Bookings(ctx context.Context, businessID uuid.UUID, filter booking.Filter,
	page request.Page) (*booking.BookingList, error) {
	return ListBookings.Call(ctx, c.peer,
		BookingsRequest{endpoints.OfBusiness{Business: businessID}, page, Filter{filter}})
}

// Book makes a booking for a customer as POST /book does. The argument `slug` is the slug
// of the business. The actor of the booking is the actor in ctx. Faults: the faults of POST /book.
func (c *Client) Book(ctx context.Context, businessID uuid.UUID, slug string,
	wanted booking.NewBooking) (*booking.Booking, error) {
	return Book.Call(ctx, c.peer, endpoints.About(businessID, BookRequest{slug, wanted}))
}

// Reschedule changes the time of a booking and returns the booking with its new time. The
// argument `slug` is the slug of the business. The actor of the change is the actor in ctx.
//
// If `boundsRefund` is true, a later cancellation refunds at most the share that a cancellation would refund now.
//
// Faults: not_found; conflict if the booking can no longer be
// rescheduled; the faults of POST /book about the start of a booking.
func (c *Client) Reschedule(
	ctx context.Context, businessID, bookingID uuid.UUID, slug string, to booking.Reschedule, boundsRefund bool,
) (*booking.Booking, error) {
	return RescheduleBooking.Call(ctx, c.peer,
		endpoints.Request(BookingID{businessID, bookingID}, RescheduleRequest{slug, boundsRefund, to}))
}

// Relocate changes the location of a booking and returns the booking. The argument `slug`
// is the slug of the business. The actor of the change is the actor in ctx.
//
// Faults: not_found; location_not_found; conflict if the booking can no longer be relocated;
// slot_unavailable if it cannot take place at the location at its time.
func (c *Client) Relocate(ctx context.Context, businessID, bookingID uuid.UUID, slug string,
	to booking.Relocate) (*booking.Booking, error) {
	return RelocateBooking.Call(ctx, c.peer,
		endpoints.Request(BookingID{businessID, bookingID}, RelocateRequest{slug, to}))
}

// Transition changes the status of a booking by one of the transitions booking.Transition…, and returns the changed
// booking. If the transition is a cancellation, the cancellation policy determines the refund. Faults: not_found if the
// booking or the transition is unknown; conflict if the status of the booking does not permit the transition.
func (c *Client) Transition(ctx context.Context, businessID, bookingID uuid.UUID,
	transition string) (*booking.Booking, error) {
	return ChangeBookingStatus.Call(ctx, c.peer, TransitionRequest{BookingID{businessID, bookingID}, transition})
}

// Cancellation returns the effect that cancelling a booking would have now. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, businessID, bookingID uuid.UUID) (*booking.Cancellation, error) {
	return PreviewCancellation.Call(ctx, c.peer, BookingID{businessID, bookingID})
}

// Cancel cancels a booking and returns it. If the cancellation includes a refund, this refund is
// pending. Faults: not_found; conflict if the status of the booking does not permit a cancellation,
// or if the requested refund exceeds the amount that is left of the payment; invalid_parameter.
func (c *Client) Cancel(ctx context.Context, businessID, bookingID uuid.UUID,
	wanted booking.Cancel) (*booking.Booking, error) {
	return CancelBooking.Call(ctx, c.peer, endpoints.Request(BookingID{businessID, bookingID}, wanted))
}

// Refund refunds a booking that has ended or was cancelled, and returns it. Faults:
// not_found; conflict if the booking can still be cancelled, if a refund is pending, or if
// the requested refund exceeds the amount that is left of the payment; invalid_parameter.
func (c *Client) Refund(ctx context.Context, businessID, bookingID uuid.UUID,
	wanted booking.NewRefund) (*booking.Booking, error) {
	return RefundBooking.Call(ctx, c.peer, endpoints.Request(BookingID{businessID, bookingID}, wanted))
}

// Booking returns the current state of a booking. Faults: not_found.
func (c *Client) Booking(ctx context.Context, businessID, bookingID uuid.UUID) (*booking.Booking, error) {
	return ReadBooking.Call(ctx, c.peer, BookingID{businessID, bookingID})
}

// CountAhead returns the number of pending and confirmed bookings of a business that end in the future.
func (c *Client) CountAhead(ctx context.Context, businessID uuid.UUID) (int, error) {
	return count(CountAhead.Call(ctx, c.peer, endpoints.OfBusiness{Business: businessID}))
}

func newPageRequest(businessID uuid.UUID, page request.Page) PageRequest {
	return PageRequest{endpoints.OfBusiness{Business: businessID}, page}
}

// count returns the number in the response to a call.
func count(out *booking.AheadCount, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return out.Count, nil
}
