package rental

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Client is the client of rental's internal API. It identifies a business by its slug,
// because rental reads offers by slug. Every method returns the fault that rental answered
// with, such as business_not_found, or fault.PeerUnavailable if rental did not answer.
type Client struct {
	peer endpoints.Caller
	of   uuid.UUID // nil: any business with the slug
}

// NewClient returns a client that sends its requests through peer.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// Of returns a client for the stored data of one business. If the slug
// now belongs to another business, its calls return business_not_found.
//
// Without Of, rental answers for the business that its cached offer gives for the slug. While catalog is
// down or slow, that can be a removed business. Reserve, Ahead and Outside always use the newest offer.
func (c *Client) Of(business uuid.UUID) *Client { return &Client{peer: c.peer, of: business} }

// Ceilings returns the ceilings of all rentals of a business, by an offer of this version or a newer one.
func (c *Client) Ceilings(ctx context.Context, slug string, offerVersion int64) (*Ceilings, error) {
	return ReadCeilings.Call(ctx, c.peer, CeilingsRequest{slug, strconv.FormatInt(offerVersion, 10)})
}

// AvailableDates returns the response of /rental-available-dates (interface.md §4)
// to these parameters, unchanged. Faults: invalid_parameter; rental_not_found.
func (c *Client) AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error) {
	var out json.RawMessage
	at := ListAvailableDates.URL(&OfSlug{Slug: slug}) + "?" + query.Encode()
	if err := c.peer.Call(ctx, http.MethodGet, at, nil, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// Starts returns the times on a date at which a reservation can start. Faults: invalid_parameter; rental_not_found.
func (c *Client) Starts(ctx context.Context, slug string, wanted Wanted) (*Starts, error) {
	return ReadStarts.Call(ctx, c.peer, StartsRequest{slug, wanted})
}

// Reserve reserves units. Faults: invalid_parameter; rental_not_found; conflict if too few units are available.
func (c *Client) Reserve(ctx context.Context, slug string, reservation NewReservation) (*Reservation, error) {
	return Reserve.Call(ctx, c.peer, endpoints.Request(OfSlug{Slug: slug}, reservation))
}

// Reservations lists reservations in order of their start. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) Reservations(ctx context.Context, slug string, filter Filter,
	page request.Page) (*ReservationList, error) {
	return ListReservations.Call(ctx, c.peer, ReservationsRequest{c.at(slug), filter, page})
}

// Ahead returns the number of pending and reserved reservations that end today or later, by the date in the
// zone of the business. It also counts all reservations that are picked up, even if the return is late.
func (c *Client) Ahead(ctx context.Context, slug string) (int, error) {
	out, err := CountAhead.Call(ctx, c.peer, OfSlug{Slug: slug})
	if err != nil {
		return 0, err
	}
	return out.Count, nil
}

// Link returns the customer's link to a reservation; "" if the link cannot be shown. Faults: not_found.
func (c *Client) Link(ctx context.Context, businessID, id uuid.UUID) (string, error) {
	out, err := ReadLink.Call(ctx, c.peer, LinkRequest{businessID, id})
	if err != nil {
		return "", err
	}
	return out.URL, nil
}

// Reservation returns the current state of a reservation. Faults: not_found; business_not_found.
func (c *Client) Reservation(ctx context.Context, slug string, id uuid.UUID) (*Reservation, error) {
	return ReadReservation.Call(ctx, c.peer, c.reservation(slug, id))
}

// Move changes the status of a reservation by one of the Move… transitions, and
// returns the changed reservation. Faults: not_found for an unknown reservation or
// transition; conflict if the reservation's status does not permit the transition.
func (c *Client) Move(ctx context.Context, slug string, id uuid.UUID, move string) (*Reservation, error) {
	return ChangeReservationStatus.Call(ctx, c.peer, MoveRequest{c.reservation(slug, id), move})
}

// Cancellation returns the refund of cancelling a reservation now, by its policy. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	return PreviewCancellation.Call(ctx, c.peer, c.reservation(slug, id))
}

// Cancel cancels a reservation, whose units are available again immediately, and refunds the
// requested amount of the online payment. Faults: not_found; conflict if its status does not
// permit it or the amount exceeds the payment; invalid_parameter if the amount is invalid.
func (c *Client) Cancel(ctx context.Context, slug string, id uuid.UUID, wanted booking.Cancel) (*Reservation, error) {
	return CancelReservation.Call(ctx, c.peer, endpoints.Request(c.reservation(slug, id), wanted))
}

// Refund refunds a reservation that has ended or was cancelled, for example after the provider refused an
// earlier refund. Faults: not_found; conflict if the reservation can still be cancelled, if a refund is
// pending, or if the amount exceeds what is left of the payment; invalid_parameter if the amount is invalid.
func (c *Client) Refund(ctx context.Context, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*Reservation, error) {
	return RefundReservation.Call(ctx, c.peer, endpoints.Request(c.reservation(slug, id), wanted))
}

// RevenueReport returns the sums of sold reservations, by the period of their first date
// and by currency. Faults: invalid_parameter if the report would have too many rows.
func (c *Client) RevenueReport(ctx context.Context, slug string, q report.Query) (*report.Revenue, error) {
	return ReportRevenue.Call(ctx, c.peer, ReportRequest{c.at(slug), request.Report{Query: q}})
}

// at returns the business of a request. It has the id of the business if [Client.Of] set one.
func (c *Client) at(slug string) OfSlug { return OfSlug{slug, c.of} }

func (c *Client) reservation(slug string, id uuid.UUID) OfReservation {
	return OfReservation{c.at(slug), id}
}

// Filter selects the reservations of a list. They have all these properties, and overlap the dates
// from From to To, both inclusive. A field with the zero value selects nothing and has no effect.
type Filter struct {
	From, To *timespan.Date
	Status   string // one of the Status… values
	Payment  string // one of booking.PaymentStatuses: status of the online payment
}
