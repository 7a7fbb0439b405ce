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

// Client is the client of the internal API of the rental service. It identifies a business by its slug,
// because the rental service reads offers by slug. Every method returns the fault that the rental service
// sent, such as business_not_found, or fault.PeerUnavailable if the rental service did not answer.
type Client struct {
	peer endpoints.Caller
	of   uuid.UUID // set by [Client.Of]; nil: any business with the slug
}

// NewClient returns a client that sends its requests through the argument `peer`.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// ForBusiness returns a client for the data of one business. If the slug now belongs to
// another business, the methods of this client return a fault business_not_found.
//
// Without ForBusiness, the rental service finds the business by the slug in its cached offers.
// While the catalog service is down or slow, a cached offer can be stale: its business
// may have been removed. Only Reserve, CountAhead and FindConflicts always use the newest offer.
func (c *Client) ForBusiness(business uuid.UUID) *Client { return &Client{peer: c.peer, of: business} }

// Ceilings returns the maximal number of units that can be booked online, for each rental
// of a business. The result is computed from the given version of the offer or a newer one.
func (c *Client) Ceilings(ctx context.Context, slug string, offerVersion int64) (*Ceilings, error) {
	return ReadCeilings.Call(ctx, c.peer, CeilingsRequest{slug, strconv.FormatInt(offerVersion, 10)})
}

// AvailableDates sends the query parameters to /rental-available-dates (interface.md
// §4) and returns the response unchanged. Faults: invalid_parameter; rental_not_found.
func (c *Client) AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error) {
	var out json.RawMessage
	at := ListAvailableDates.URL(&OfSlug{Slug: slug}) + "?" + query.Encode()
	if err := c.peer.Call(ctx, http.MethodGet, at, nil, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// Starts returns the times on the requested date at which a
// reservation can start. Faults: invalid_parameter; rental_not_found.
func (c *Client) Starts(ctx context.Context, slug string, wanted Wanted) (*Starts, error) {
	return ReadStarts.Call(ctx, c.peer, StartsRequest{slug, wanted})
}

// Reserve reserves units of a rental. Faults: invalid_parameter;
// rental_not_found; conflict if too few units are available.
func (c *Client) Reserve(ctx context.Context, slug string, reservation NewReservation) (*Reservation, error) {
	return Reserve.Call(ctx, c.peer, endpoints.Request(OfSlug{Slug: slug}, reservation))
}

// Reservations lists the reservations that match the filter, in the order
// of their starts. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) Reservations(ctx context.Context, slug string, filter Filter,
	page request.Page) (*ReservationList, error) {
	return ListReservations.Call(ctx, c.peer, ReservationsRequest{c.slugParams(slug), filter, page})
}

// CountAhead returns the number of pending and reserved reservations that end today or later, in the time zone
// of the business. It also counts all reservations that are picked up, even if their return is late.
func (c *Client) CountAhead(ctx context.Context, slug string) (int, error) {
	out, err := CountAhead.Call(ctx, c.peer, OfSlug{Slug: slug})
	if err != nil {
		return 0, err
	}
	return out.Count, nil
}

// Link returns the customer's link to a reservation. It returns "" if the link cannot be shown. Faults: not_found.
func (c *Client) Link(ctx context.Context, businessID, id uuid.UUID) (string, error) {
	out, err := ReadLink.Call(ctx, c.peer, LinkRequest{businessID, id})
	if err != nil {
		return "", err
	}
	return out.URL, nil
}

// Reservation returns the current state of a reservation. Faults: not_found; business_not_found.
func (c *Client) Reservation(ctx context.Context, slug string, id uuid.UUID) (*Reservation, error) {
	return ReadReservation.Call(ctx, c.peer, c.reservationParams(slug, id))
}

// Transition changes the status of a reservation by one of the Transition… constants, and returns
// the changed reservation. Faults: not_found if the reservation or the transition is
// unknown; conflict if the status of the reservation does not permit the transition.
func (c *Client) Transition(ctx context.Context, slug string, id uuid.UUID, transition string) (*Reservation, error) {
	return ChangeReservationStatus.Call(ctx, c.peer, TransitionRequest{c.reservationParams(slug, id), transition})
}

// Cancellation returns the effect that cancelling a reservation would have
// now, with the refund that the cancellation policy gives. Faults: not_found.
func (c *Client) Cancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	return PreviewCancellation.Call(ctx, c.peer, c.reservationParams(slug, id))
}

// Cancel cancels a reservation and refunds the requested amount of its online payment. The units can be
// reserved again immediately. Faults: not_found; conflict if the status of the reservation does not permit
// a cancellation, or if the amount exceeds the payment; invalid_parameter if the amount is invalid.
func (c *Client) Cancel(ctx context.Context, slug string, id uuid.UUID, wanted booking.Cancel) (*Reservation, error) {
	return CancelReservation.Call(ctx, c.peer, endpoints.Request(c.reservationParams(slug, id), wanted))
}

// Refund refunds a reservation that has ended or was cancelled, for example after the provider refused an
// earlier refund. Faults: not_found; conflict if the reservation can still be cancelled, if a refund is pending,
// or if the amount exceeds the part of the payment that is left; invalid_parameter if the amount is invalid.
func (c *Client) Refund(ctx context.Context, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*Reservation, error) {
	return RefundReservation.Call(ctx, c.peer, endpoints.Request(c.reservationParams(slug, id), wanted))
}

// RevenueReport returns the sold, paid and refunded amounts of reservations by currency and period. A reservation
// belongs to the period of its first date. Faults: invalid_parameter if the report would have too many rows.
func (c *Client) RevenueReport(ctx context.Context, slug string, q report.Query) (*report.Revenue, error) {
	return ReportRevenue.Call(ctx, c.peer, ReportRequest{c.slugParams(slug), request.Report{Query: q}})
}

// slugParams returns the part of a request that identifies the business, with the id that [Client.Of] has set.
func (c *Client) slugParams(slug string) OfSlug { return OfSlug{slug, c.of} }

func (c *Client) reservationParams(slug string, id uuid.UUID) OfReservation {
	return OfReservation{c.slugParams(slug), id}
}

// Filter selects the reservations of a list. A selected reservation matches all fields and overlaps
// the dates between From and To, both included. A field with its zero value matches all reservations.
type Filter struct {
	From, To *timespan.Date
	Status   string // one of the Status… values
	Payment  string // one of booking.PaymentStatuses
}
