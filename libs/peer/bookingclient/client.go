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
	"github.com/slotmesh/slotmesh/libs/request"
)

// Caller sends one request of a peer and decodes its answer; *peer.Client is the one outside tests. Ask is a POST that
// changes nothing, Do leaves the answer as it is. Its errors are faults.
type Caller interface {
	Call(ctx context.Context, method, path string, in, out any) error
	Ask(ctx context.Context, path string, in, out any) error
	Do(ctx context.Context, request peer.Request) (*peer.Response, error)
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

// CreateKey makes an API key; the answer alone carries its Secret. Faults: invalid_parameter.
func (c *Client) CreateKey(ctx context.Context, businessID uuid.UUID, key booking.NewKey) (*booking.Key, error) {
	var out booking.Key
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "keys"), key, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Keys lists the keys of a business, revoked ones included, oldest first. Faults: invalid_parameter for a bad page.
func (c *Client) Keys(ctx context.Context, businessID uuid.UUID, page request.Page) (*booking.KeyList, error) {
	var out booking.KeyList
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, "keys")+"?"+page.Values().Encode(), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
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
	var out booking.BookingList
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, "bookings")+"?"+query.Encode(), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Book books for a customer, as POST /book decides; who acts, the context says. The slug is the business's. Faults: those of POST /book.
func (c *Client) Book(ctx context.Context, businessID uuid.UUID, slug string, wanted booking.NewBooking) (*booking.Booking, error) {
	var out booking.Booking
	body := struct {
		Slug string `json:"slug"`
		booking.NewBooking
	}{slug, wanted}
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "bookings"), body, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Reschedule moves a booking to another time and returns it as it is then; who acts, the context says. The slug is the business's.
// Faults: not_found, conflict where the booking cannot be moved any more, and those of POST /book that say something of a start.
func (c *Client) Reschedule(ctx context.Context, businessID, bookingID uuid.UUID, slug string, to booking.Reschedule) (*booking.Booking, error) {
	var out booking.Booking
	body := struct {
		Slug string `json:"slug"`
		booking.Reschedule
	}{slug, to}
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "bookings/"+bookingID.String()+"/reschedule"), body, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Move makes one of the Move… moves and returns the booking as it is then; a cancellation refunds by the policy. Faults: not_found for an unknown booking
// or move, conflict where the booking's status does not allow it.
func (c *Client) Move(ctx context.Context, businessID, bookingID uuid.UUID, move string) (*booking.Booking, error) {
	var out booking.Booking
	at := path(businessID, "bookings/"+bookingID.String()+"/"+url.PathEscape(move))
	if err := c.peer.Call(ctx, http.MethodPost, at, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Cancellation says what cancelling a booking would do now. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, businessID, bookingID uuid.UUID) (*booking.Cancellation, error) {
	var out booking.Cancellation
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, "bookings/"+bookingID.String()+"/cancellation"), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Cancel cancels a booking at once and returns it; what is to be refunded is on its way then. Faults: not_found; conflict where its
// status does not allow it or more is wanted than is left to refund; invalid_parameter.
func (c *Client) Cancel(ctx context.Context, businessID, bookingID uuid.UUID, wanted booking.Cancel) (*booking.Booking, error) {
	var out booking.Booking
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "bookings/"+bookingID.String()+"/cancel"), wanted, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Refund refunds a booking that is over, and returns it. Faults: not_found; conflict where it is still ahead, a refund is on its way
// or more is wanted than is left; invalid_parameter.
func (c *Client) Refund(ctx context.Context, businessID, bookingID uuid.UUID, wanted booking.NewRefund) (*booking.Booking, error) {
	var out booking.Booking
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "bookings/"+bookingID.String()+"/refund"), wanted, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Booking returns a booking as it is now. Faults: not_found.
func (c *Client) Booking(ctx context.Context, businessID, bookingID uuid.UUID) (*booking.Booking, error) {
	var out booking.Booking
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, "bookings/"+bookingID.String()), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
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
