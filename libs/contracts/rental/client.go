package rental

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Caller sends requests to a peer; the implementation is *peer.Client.
type Caller interface {
	typed.Caller
	typed.Asker
}

// Client is the client of rental's internal API. It identifies a business by its slug,
// because rental reads offers by slug. Every method returns the fault that rental answered
// with, such as business_not_found, or fault.PeerUnavailable if rental did not answer.
type Client struct {
	peer Caller
	of   uuid.UUID // nil: any business with the slug
}

// QueryBusinessID is the query parameter with the id of the business. It must match the slug of the path.
const QueryBusinessID = "business_id"

// NewClient returns a client that sends its requests through peer.
func NewClient(peer Caller) *Client { return &Client{peer: peer} }

// Of returns a client for the stored data of one business. If the slug
// now belongs to another business, its calls return business_not_found.
//
// Without Of, rental answers for the business that its cached offer gives for the slug. While catalog is
// down or slow, that can be a removed business. Reserve, Ahead and Outside always use the newest offer.
func (c *Client) Of(business uuid.UUID) *Client { return &Client{peer: c.peer, of: business} }

// Ceilings returns the ceilings of all rentals of a business, by an offer of this version or a newer one.
func (c *Client) Ceilings(ctx context.Context, slug string, offerVersion int64) (*Ceilings, error) {
	query := url.Values{"offer_version": {strconv.FormatInt(offerVersion, 10)}}
	return typed.Call[Ceilings](ctx, c.peer, http.MethodGet, path(slug, "ceilings")+"?"+query.Encode(), nil)
}

// AvailableDates returns the response of /rental-available-dates (interface.md §4)
// to these parameters, unchanged. Faults: invalid_parameter; rental_not_found.
func (c *Client) AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error) {
	var out json.RawMessage
	at := "/internal/api/public/" + url.PathEscape(slug) + "/rental-available-dates?" + query.Encode()
	if err := c.peer.Call(ctx, http.MethodGet, at, nil, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// Starts returns the times on a date at which a reservation can start. Faults: invalid_parameter; rental_not_found.
func (c *Client) Starts(ctx context.Context, slug string, wanted Wanted) (*Starts, error) {
	query := url.Values{"rental_id": {wanted.RentalID.String()}, "date": {wanted.Date.String()},
		"quantity": {strconv.Itoa(wanted.Quantity)}}
	for _, id := range wanted.Extras {
		query.Add("extra_id", id.String())
	}
	return typed.Call[Starts](ctx, c.peer, http.MethodGet, path(slug, "starts")+"?"+query.Encode(), nil)
}

// Reserve reserves units. Faults: invalid_parameter; rental_not_found; conflict if too few units are available.
func (c *Client) Reserve(ctx context.Context, slug string, reservation NewReservation) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, path(slug, "reservations"), reservation)
}

// Reservations lists reservations in order of their start. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) Reservations(ctx context.Context, slug string, filter Filter,
	page request.Page) (*ReservationList, error) {
	query := page.Values()
	if filter.From != nil {
		query.Set("from", filter.From.String())
	}
	if filter.To != nil {
		query.Set("to", filter.To.String())
	}
	if filter.Status != "" {
		query.Set("status", filter.Status)
	}
	if filter.Payment != "" {
		query.Set("payment", filter.Payment)
	}
	return typed.Call[ReservationList](ctx, c.peer, http.MethodGet, c.at(slug, "reservations", query), nil)
}

// Ahead returns the number of pending and reserved reservations that end today or later, by the date in the
// zone of the business. It also counts all reservations that are picked up, even if the return is late.
func (c *Client) Ahead(ctx context.Context, slug string) (int, error) {
	var out AheadCount
	if err := c.peer.Call(ctx, http.MethodGet, path(slug, "reservations/ahead"), nil, &out); err != nil {
		return 0, err
	}
	return out.Count, nil
}

// Link returns the customer's link to a reservation; "" if the link cannot be shown. Faults: not_found.
func (c *Client) Link(ctx context.Context, businessID, id uuid.UUID) (string, error) {
	var out link.Shown
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID.String(), "reservations/"+id.String()+"/link"), nil,
		&out); err != nil {
		return "", err
	}
	return out.URL, nil
}

// Reservation returns the current state of a reservation. Faults: not_found; business_not_found.
func (c *Client) Reservation(ctx context.Context, slug string, id uuid.UUID) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodGet, c.at(slug, "reservations/"+id.String(), nil), nil)
}

// Move changes the status of a reservation by one of the Move… transitions, and
// returns the changed reservation. Faults: not_found for an unknown reservation or
// transition; conflict if the reservation's status does not permit the transition.
func (c *Client) Move(ctx context.Context, slug string, id uuid.UUID, move string) (*Reservation, error) {
	at := c.at(slug, "reservations/"+id.String()+"/"+url.PathEscape(move), nil)
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, at, nil)
}

// Cancellation returns the refund of cancelling a reservation now, by its policy. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	return typed.Call[booking.Cancellation](ctx, c.peer, http.MethodGet,
		c.at(slug, "reservations/"+id.String()+"/cancellation", nil), nil)
}

// Cancel cancels a reservation, whose units are available again immediately, and refunds the
// requested amount of the online payment. Faults: not_found; conflict if its status does not
// permit it or the amount exceeds the payment; invalid_parameter if the amount is invalid.
func (c *Client) Cancel(ctx context.Context, slug string, id uuid.UUID, wanted booking.Cancel) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, c.at(slug, "reservations/"+id.String()+"/cancel", nil),
		wanted)
}

// Refund refunds a reservation that has ended or was cancelled, for example after the provider refused an
// earlier refund. Faults: not_found; conflict if the reservation can still be cancelled, if a refund is
// pending, or if the amount exceeds what is left of the payment; invalid_parameter if the amount is invalid.
func (c *Client) Refund(ctx context.Context, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, c.at(slug, "reservations/"+id.String()+"/refund", nil),
		wanted)
}

// RevenueReport returns the sums of sold reservations, by the period of their first date
// and by currency. Faults: invalid_parameter if the report would have too many rows.
func (c *Client) RevenueReport(ctx context.Context, slug string, q report.Query) (*report.Revenue, error) {
	return typed.Call[report.Revenue](ctx, c.peer, http.MethodGet, c.at(slug, "reports/revenue", q.Values()), nil)
}

func path(slug, rest string) string {
	return "/internal/businesses/" + url.PathEscape(slug) + "/" + rest
}

// at returns a path with its query. It adds the id of the business if [Client.Of] set one.
func (c *Client) at(slug, rest string, query url.Values) string {
	if c.of != uuid.Nil {
		if query == nil {
			query = url.Values{}
		}
		query.Set(QueryBusinessID, c.of.String())
	}
	if len(query) == 0 {
		return path(slug, rest)
	}
	return path(slug, rest) + "?" + query.Encode()
}

// Filter selects the reservations of a list. They have all these properties, and overlap the dates
// from From to To, both inclusive. A field with the zero value selects nothing and has no effect.
type Filter struct {
	From, To *timespan.Date
	Status   string // one of the Status… values
	Payment  string // one of booking.PaymentStatuses: status of the online payment
}
