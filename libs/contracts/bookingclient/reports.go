package bookingclient

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

// BookingsReport returns the number of bookings by period, source and
// status. Faults: invalid_parameter if the report would have too many rows.
func (c *Client) BookingsReport(ctx context.Context, businessID uuid.UUID,
	q report.Query) (*booking.BookingsReport, error) {
	return typed.Call[booking.BookingsReport](ctx, c.peer, http.MethodGet, path(businessID, "reports/bookings")+"?"+
		q.Values().Encode(), nil)
}

// RevenueReport returns the sold, paid and refunded amounts of bookings and tickets
// by period, kind and currency. Faults: the faults of [Client.BookingsReport].
func (c *Client) RevenueReport(ctx context.Context, businessID uuid.UUID, q report.Query) (*report.Revenue, error) {
	return typed.Call[report.Revenue](ctx, c.peer, http.MethodGet, path(businessID, "reports/revenue")+"?"+
		q.Values().Encode(), nil)
}

// StaffTimeReport returns the booked time of staff members by period. The argument `timezone` is
// the IANA name of the time zone of the periods. Faults: the faults of [Client.BookingsReport].
func (c *Client) StaffTimeReport(ctx context.Context, businessID uuid.UUID, q report.Query,
	timezone string) (*booking.StaffTimeReport, error) {
	query := q.Values()
	query.Set("timezone", timezone)
	return typed.Call[booking.StaffTimeReport](ctx, c.peer, http.MethodGet, path(businessID, "reports/staff-time")+"?"+
		query.Encode(), nil)
}
