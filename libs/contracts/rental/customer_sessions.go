package rental

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Known reports whether a reservation of the business has an email address.
type Known struct {
	Known bool `json:"known"`
}

// OwnReservation is a reservation on the page with all bookings of a customer.
type OwnReservation struct {
	Position booking.SalePosition `json:"position"`
	Token    string               `json:"token"` // token of the customer's link; "" if the link has expired
	CustomerView
}

// OwnReservations is one page of reservations.
type OwnReservations struct {
	Reservations []OwnReservation `json:"reservations"`
}

// KnowsCustomer reports whether a reservation of the business has the email address. Fault: invalid_parameter.
func (c *Client) KnowsCustomer(ctx context.Context, slug, email string) (bool, error) {
	out, err := KnowsCustomer.Call(ctx, c.peer, endpoints.Request(c.slugParams(slug), customer.Of{Email: email}))
	if err != nil {
		return false, err
	}
	return out.Known, nil
}

// OwnReservations returns one page of the reservations of a session's customer (bookingclient.Sessions). The
// rental service asks the booking service for the customer, so the caller cannot choose the address. Faults:
// not_found if the session does not exist or belongs to another business; invalid_parameter.
func (c *Client) OwnReservations(ctx context.Context, slug string, businessID uuid.UUID,
	req booking.CustomerSalesRequest) ([]OwnReservation, error) {
	out, err := ListOwnReservations.Call(ctx, c.peer,
		endpoints.Request(OfSlug{Slug: slug, Business: businessID}, req))
	if err != nil {
		return nil, err
	}
	return out.Reservations, nil
}
