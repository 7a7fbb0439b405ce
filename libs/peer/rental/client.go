package rental

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/report"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Caller sends requests of a peer; *peer.Client is the one outside tests.
type Caller interface {
	typed.Caller
	typed.Asker
}

// Client is rental's internal API. Businesses are named by slug, since rental needs their offer. Every method returns
// the fault that rental answered with, business_not_found among them, or one of kind fault.PeerUnavailable where it did
// not answer.
type Client struct {
	peer Caller
	of   uuid.UUID // nil: whoever has the slug
}

// QueryBusinessID is the parameter that says which business is meant by the slug of the path.
const QueryBusinessID = "business_id"

// NewClient returns a client that speaks through peer.
func NewClient(peer Caller) *Client { return &Client{peer: peer} }

// Of returns a client for what is kept of one business and its customers: a slug that leads to another one by now is business_not_found.
// Without it rental answers for the business that it knows by the slug, while catalog is away or slow also for the one before. Reserve, Ahead
// and Outside go by the newest offer in any case.
func (c *Client) Of(business uuid.UUID) *Client { return &Client{peer: c.peer, of: business} }

// Ceilings returns the ceilings of all rentals of a business, by an offer of this version or a newer one.
func (c *Client) Ceilings(ctx context.Context, slug string, offerVersion int64) (*Ceilings, error) {
	query := url.Values{"offer_version": {strconv.FormatInt(offerVersion, 10)}}
	return typed.Call[Ceilings](ctx, c.peer, http.MethodGet, path(slug, "ceilings")+"?"+query.Encode(), nil)
}

// AvailableDates returns the answer of /rental-available-dates (interface.md §4) to these parameters, as it is sent.
// Faults: invalid_parameter; rental_not_found.
func (c *Client) AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error) {
	var out json.RawMessage
	at := "/internal/api/public/" + url.PathEscape(slug) + "/rental-available-dates?" + query.Encode()
	if err := c.peer.Call(ctx, http.MethodGet, at, nil, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// Starts returns from when on a date a customer could reserve. Faults: invalid_parameter; rental_not_found.
func (c *Client) Starts(ctx context.Context, slug string, wanted Wanted) (*Starts, error) {
	query := url.Values{"rental_id": {wanted.RentalID.String()}, "date": {wanted.Date.String()}, "quantity": {strconv.Itoa(wanted.Quantity)}}
	for _, id := range wanted.Extras {
		query.Add("extra_id", id.String())
	}
	return typed.Call[Starts](ctx, c.peer, http.MethodGet, path(slug, "starts")+"?"+query.Encode(), nil)
}

// Reserve holds units. Faults: invalid_parameter; rental_not_found; conflict where units are lacking.
func (c *Client) Reserve(ctx context.Context, slug string, reservation NewReservation) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, path(slug, "reservations"), reservation)
}

// Reservations lists reservations in order of their start. Faults: invalid_parameter for a bad filter or page.
func (c *Client) Reservations(ctx context.Context, slug string, filter Filter, page request.Page) (*ReservationList, error) {
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

// Ahead counts the reservations that a customer is still expected for, today or later in business time, and those that
// are out, however late.
func (c *Client) Ahead(ctx context.Context, slug string) (int, error) {
	var out AheadCount
	if err := c.peer.Call(ctx, http.MethodGet, path(slug, "reservations/ahead"), nil, &out); err != nil {
		return 0, err
	}
	return out.Count, nil
}

// Link returns the customer's link to a reservation; "" where there is none to show. Faults: not_found.
func (c *Client) Link(ctx context.Context, businessID, id uuid.UUID) (string, error) {
	var out link.Shown
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID.String(), "reservations/"+id.String()+"/link"), nil, &out); err != nil {
		return "", err
	}
	return out.URL, nil
}

// Reservation returns a reservation as it is now. Faults: not_found; business_not_found.
func (c *Client) Reservation(ctx context.Context, slug string, id uuid.UUID) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodGet, c.at(slug, "reservations/"+id.String(), nil), nil)
}

// Move makes one of the Move… moves and returns the reservation as it is then. Faults: not_found for an unknown
// reservation or move, conflict where the reservation's status does not allow it.
func (c *Client) Move(ctx context.Context, slug string, id uuid.UUID, move string) (*Reservation, error) {
	at := c.at(slug, "reservations/"+id.String()+"/"+url.PathEscape(move), nil)
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, at, nil)
}

// Cancellation says what cancelling a reservation would refund now, by its policy. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	return typed.Call[booking.Cancellation](ctx, c.peer, http.MethodGet, c.at(slug, "reservations/"+id.String()+"/cancellation", nil), nil)
}

// Cancel cancels a reservation, whose units are free again at once, and refunds what is wanted of what was paid online. Faults: not_found;
// conflict where its status does not allow it, or more is wanted than was paid; invalid_parameter for what is no amount.
func (c *Client) Cancel(ctx context.Context, slug string, id uuid.UUID, wanted booking.Cancel) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, c.at(slug, "reservations/"+id.String()+"/cancel", nil), wanted)
}

// Refund refunds a reservation that is over, as after a refusal. Faults: not_found; conflict where it is not, a refund is on its way, or more
// is wanted than is left; invalid_parameter for what is no amount.
func (c *Client) Refund(ctx context.Context, slug string, id uuid.UUID, wanted booking.NewRefund) (*Reservation, error) {
	return typed.Call[Reservation](ctx, c.peer, http.MethodPost, c.at(slug, "reservations/"+id.String()+"/refund", nil), wanted)
}

// RevenueReport adds up reservations that were sold, by the first date of them, by stretch and currency. Faults: invalid_parameter for
// more rows than a report has.
func (c *Client) RevenueReport(ctx context.Context, slug string, q report.Query) (*report.Revenue, error) {
	return typed.Call[report.Revenue](ctx, c.peer, http.MethodGet, c.at(slug, "reports/revenue", q.Values()), nil)
}

func path(slug, rest string) string {
	return "/internal/businesses/" + url.PathEscape(slug) + "/" + rest
}

// at is a path with a query, which says which business is meant where that is known.
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

// Filter narrows a list to reservations that touch the dates from From to To, both included, and have this status. What is left out
// narrows nothing.
type Filter struct {
	From, To *timespan.Date
	Status   string // one of the Status… values
	Payment  string // one of booking.PaymentStatuses: what is paid online, and where that is
}
