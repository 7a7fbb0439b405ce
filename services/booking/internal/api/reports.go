package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/zone"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func (in *Internal) reportBookings(ctx context.Context,
	r bookingclient.ReportRequest) (*booking.BookingsReport, error) {
	rows, err := in.records.BookingsReport(ctx, r.Business, r.Query)
	return &booking.BookingsReport{Rows: rows}, err
}

func (in *Internal) reportRevenue(ctx context.Context, r bookingclient.ReportRequest) (*report.Revenue, error) {
	rows, err := in.records.RevenueReport(ctx, r.Business, r.Query)
	return &report.Revenue{Rows: convertAll(rows, showRevenue)}, err
}

func showRevenue(r store.RevenueRow) report.RevenueRow {
	return report.RevenueRow{
		Date: r.Date, Kind: r.Kind, Currency: r.Currency.Code, Sold: r.Sold,
		Total: r.Currency.JSON(r.Total), Paid: r.Currency.JSON(r.Paid), Refunded: r.Currency.JSON(r.Refunded), Group: r.Group,
	}
}

func (in *Internal) reportStaffTime(ctx context.Context,
	r bookingclient.StaffTimeRequest) (*booking.StaffTimeReport, error) {
	if r.Timezone == "" {
		return nil, request.Invalid("timezone: is missing; write an IANA name such as Europe/Lisbon.")
	}
	if _, err := zone.Load(r.Timezone); err != nil {
		return nil, request.Invalid("timezone: write an IANA name such as Europe/Lisbon.")
	}
	rows, err := in.records.StaffTimeReport(ctx, r.Business, r.Query, r.Timezone)
	return &booking.StaffTimeReport{Rows: rows}, err
}
