// Package bookingclient is the client of the booking service's internal API: [Client] for other services, [Agents] for the
// MCP server. The types are libs/peer/booking's.
package bookingclient

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/request"
)

// Caller sends requests of a peer; *peer.Client is the one outside tests.
type Caller interface {
	typed.Caller
	typed.Asker
	Doer
}

// Client is booking's internal API. Every method returns the fault that booking answered with, or one of kind
// fault.PeerUnavailable where it did not answer.
type Client struct{ peer Caller }

// NewClient returns a client that speaks through caller.
func NewClient(caller Caller) *Client { return &Client{peer: caller} }

// Occupied returns what live bookings of a business occupy within [from, to), to whole seconds, and, where seats are asked
// for, how many are taken in the class sessions that start then; the window is at most [MaxOccupiedWindow]. The time of the booking moving
// is left out; nil leaves out none.
func (c *Client) Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool, moving *uuid.UUID) (*booking.Occupied, error) {
	query := append(make([]byte, 0, 128), path(businessID, "occupied?from=")...)
	query = strconv.AppendInt(query, from.Unix(), 10)
	query = strconv.AppendInt(append(query, "&to="...), to.Unix(), 10)
	if seats {
		query = append(query, "&seats=true"...)
	}
	if moving != nil {
		query = append(append(query, "&moving="...), moving.String()...)
	}
	answer, err := c.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: string(query)})
	if err != nil {
		return nil, err
	}
	out := new(booking.Occupied)
	if err := out.UnmarshalBinary(answer.Body); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The booking service sent what cannot be read; try again shortly.")
	}
	return out, nil
}

// Published tells that a version of a business's offer is the newest, or that all before it are none any more: when it returns, nothing is
// sold by an older one. It may be told again, and in any order.
func (c *Client) Published(ctx context.Context, businessID uuid.UUID, version int64) error {
	_, err := c.peer.Do(ctx, peer.Request{Method: http.MethodPut, Path: path(businessID, "offer"), Body: booking.PublishedOffer{Version: version}, Repeatable: true})
	return err
}

// CreateKey makes an API key; the answer alone carries its Secret. Faults: invalid_parameter.
func (c *Client) CreateKey(ctx context.Context, businessID uuid.UUID, key booking.NewKey) (*booking.Key, error) {
	return typed.Call[booking.Key](ctx, c.peer, http.MethodPost, path(businessID, "keys"), key)
}

// Keys lists the keys of a business, revoked ones included, oldest first. Faults: invalid_parameter for a bad page.
func (c *Client) Keys(ctx context.Context, businessID uuid.UUID, page request.Page) (*booking.KeyList, error) {
	return typed.Call[booking.KeyList](ctx, c.peer, http.MethodGet, path(businessID, "keys")+"?"+page.Values().Encode(), nil)
}

// RevokeKey ends a key at once; a key revoked before stays as it is. Faults: not_found.
func (c *Client) RevokeKey(ctx context.Context, businessID, keyID uuid.UUID) error {
	return c.peer.Call(ctx, http.MethodDelete, path(businessID, "keys/"+keyID.String()), nil, nil)
}

// RevokeAllKeys ends every key of a business, as its removal does.
func (c *Client) RevokeAllKeys(ctx context.Context, businessID uuid.UUID) error {
	return c.peer.Call(ctx, http.MethodDelete, path(businessID, "keys"), nil, nil)
}

// Bookings lists bookings in order of their local start. Faults: invalid_parameter for a bad filter or page.
func (c *Client) Bookings(ctx context.Context, businessID uuid.UUID, filter booking.Filter, page request.Page) (*booking.BookingList, error) {
	query := filter.Values()
	maps.Copy(query, page.Values())
	return typed.Call[booking.BookingList](ctx, c.peer, http.MethodGet, path(businessID, "bookings")+"?"+query.Encode(), nil)
}

// Book books for a customer, as POST /book decides; who acts, the context says. The slug is the business's. Faults: those of POST /book.
func (c *Client) Book(ctx context.Context, businessID uuid.UUID, slug string, wanted booking.NewBooking) (*booking.Booking, error) {
	body := struct {
		Slug string `json:"slug"`
		booking.NewBooking
	}{slug, wanted}
	return typed.Call[booking.Booking](ctx, c.peer, http.MethodPost, path(businessID, "bookings"), body)
}

// Reschedule moves a booking to another time and returns it as it is then; who acts, the context says. The slug is the business's.
// Faults: not_found, conflict where the booking cannot be moved any more, and those of POST /book that say something of a start.
//
// With boundsRefund a later refund by policy is at most the share that cancelling gives now.
func (c *Client) Reschedule(
	ctx context.Context, businessID, bookingID uuid.UUID, slug string, to booking.Reschedule, boundsRefund bool,
) (*booking.Booking, error) {
	body := struct {
		Slug         string `json:"slug"`
		BoundsRefund bool   `json:"bounds_refund,omitempty"`
		booking.Reschedule
	}{slug, boundsRefund, to}
	return typed.Call[booking.Booking](ctx, c.peer, http.MethodPost, path(businessID, "bookings/"+bookingID.String()+"/reschedule"), body)
}

// Move makes one of the Move… moves and returns the booking as it is then; a cancellation refunds by the policy. Faults: not_found for an unknown booking
// or move, conflict where the booking's status does not allow it.
func (c *Client) Move(ctx context.Context, businessID, bookingID uuid.UUID, move string) (*booking.Booking, error) {
	at := path(businessID, "bookings/"+bookingID.String()+"/"+url.PathEscape(move))
	return typed.Call[booking.Booking](ctx, c.peer, http.MethodPost, at, nil)
}

// Cancellation says what cancelling a booking would do now. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, businessID, bookingID uuid.UUID) (*booking.Cancellation, error) {
	return typed.Call[booking.Cancellation](ctx, c.peer, http.MethodGet, path(businessID, "bookings/"+bookingID.String()+"/cancellation"), nil)
}

// Cancel cancels a booking at once and returns it; what is to be refunded is on its way then. Faults: not_found; conflict where its
// status does not allow it or more is wanted than is left to refund; invalid_parameter.
func (c *Client) Cancel(ctx context.Context, businessID, bookingID uuid.UUID, wanted booking.Cancel) (*booking.Booking, error) {
	return typed.Call[booking.Booking](ctx, c.peer, http.MethodPost, path(businessID, "bookings/"+bookingID.String()+"/cancel"), wanted)
}

// Refund refunds a booking that is over, and returns it. Faults: not_found; conflict where it is still ahead, a refund is on its way
// or more is wanted than is left; invalid_parameter.
func (c *Client) Refund(ctx context.Context, businessID, bookingID uuid.UUID, wanted booking.NewRefund) (*booking.Booking, error) {
	return typed.Call[booking.Booking](ctx, c.peer, http.MethodPost, path(businessID, "bookings/"+bookingID.String()+"/refund"), wanted)
}

// Booking returns a booking as it is now. Faults: not_found.
func (c *Client) Booking(ctx context.Context, businessID, bookingID uuid.UUID) (*booking.Booking, error) {
	return typed.Call[booking.Booking](ctx, c.peer, http.MethodGet, path(businessID, "bookings/"+bookingID.String()), nil)
}

// Ahead counts the bookings, pending or confirmed, that end in the future.
func (c *Client) Ahead(ctx context.Context, businessID uuid.UUID) (int, error) {
	var out booking.AheadCount
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, "bookings/ahead"), nil, &out); err != nil {
		return 0, err
	}
	return out.Count, nil
}

func path(businessID uuid.UUID, rest string) string {
	return "/internal/businesses/" + businessID.String() + "/" + rest
}
