package bookingclient

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/report"
)

// BookingsReport counts bookings by stretch, source and status. Faults: invalid_parameter for more rows than a report has.
func (c *Client) BookingsReport(ctx context.Context, businessID uuid.UUID, q report.Query) (*booking.BookingsReport, error) {
	return typed.Call[booking.BookingsReport](ctx, c.peer, http.MethodGet, path(businessID, "reports/bookings")+"?"+q.Values().Encode(), nil)
}

// RevenueReport adds up bookings and tickets that were sold, paid and refunded by stretch, kind and currency. Faults as of BookingsReport.
func (c *Client) RevenueReport(ctx context.Context, businessID uuid.UUID, q report.Query) (*report.Revenue, error) {
	return typed.Call[report.Revenue](ctx, c.peer, http.MethodGet, path(businessID, "reports/revenue")+"?"+q.Values().Encode(), nil)
}

// StaffTimeReport adds up for how long members are booked by stretch, by the clock of an IANA time zone. Faults as of BookingsReport.
func (c *Client) StaffTimeReport(ctx context.Context, businessID uuid.UUID, q report.Query, timezone string) (*booking.StaffTimeReport, error) {
	query := q.Values()
	query.Set("timezone", timezone)
	return typed.Call[booking.StaffTimeReport](ctx, c.peer, http.MethodGet, path(businessID, "reports/staff-time")+"?"+query.Encode(), nil)
}
