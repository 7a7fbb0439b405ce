package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

// BookingsReport returns the number of bookings by period, source and
// status. Faults: invalid_parameter if the report would have too many rows.
func (c *Client) BookingsReport(ctx context.Context, businessID uuid.UUID,
	q report.Query) (*booking.BookingsReport, error) {
	return ReportBookings.Call(ctx, c.peer, newReportRequest(businessID, q))
}

// RevenueReport returns the sold, paid and refunded amounts of bookings and tickets
// by period, kind and currency. Faults: the faults of [Client.BookingsReport].
func (c *Client) RevenueReport(ctx context.Context, businessID uuid.UUID, q report.Query) (*report.Revenue, error) {
	return ReportRevenue.Call(ctx, c.peer, newReportRequest(businessID, q))
}

// StaffTimeReport returns the booked time of staff members by period. The argument `timezone` is
// the IANA name of the time zone of the periods. Faults: the faults of [Client.BookingsReport].
func (c *Client) StaffTimeReport(ctx context.Context, businessID uuid.UUID, q report.Query,
	timezone string) (*booking.StaffTimeReport, error) {
	return ReportStaffTime.Call(ctx, c.peer, StaffTimeRequest{endpoints.OfBusiness{Business: businessID},
		request.Report{Query: q}, timezone})
}

func newReportRequest(businessID uuid.UUID, q report.Query) ReportRequest {
	return ReportRequest{endpoints.OfBusiness{Business: businessID}, request.Report{Query: q}}
}
