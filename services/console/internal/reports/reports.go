package reports

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// ReportBookings counts bookings by the date on which they start, by source and by status. Fault: invalid_parameter for
// more rows than a report may have. All functions for reports return this fault.
func (o *UseCases) ReportBookings(ctx context.Context, slug string,
	q report.Query) (*report.Report[booking.BookingsRow], error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	bookingsReport, err := o.Bookings.BookingsReport(ctx, business.ID, addDefaultLocation(business, q))
	if err != nil {
		return nil, err
	}
	for i := range bookingsReport.Rows {
		updateName(business, &bookingsReport.Rows[i].Group)
	}
	return &report.Report[booking.BookingsRow]{Query: q, Timezone: business.Timezone, Rows: bookingsReport.Rows}, nil
}

// addDefaultLocation adds to a report by location the location of the bookings without a stored location.
func addDefaultLocation(business *catalog.Snapshot, q report.Query) report.Query {
	if l := business.UnstoredLocation(); l != nil && q.By == report.Location {
		q.DefaultLocation = l.ID
	}
	return q
}

// updateName replaces the stored name of a location, service or member by the present name, if the offer still has it.
func updateName(business *catalog.Snapshot, g *report.Group) {
	switch {
	case g.LocationID != nil:
		if l := business.FindLocation(*g.LocationID); l != nil {
			g.LocationName = l.Name.Text
		}
	case g.ServiceID != nil:
		if s := business.Service(*g.ServiceID); s != nil {
			g.ServiceName = s.Name
		}
	case g.StaffID != nil:
		if m := business.StaffMember(*g.StaffID); m != nil {
			g.StaffName = m.Name
		}
	}
}

// ReportRevenue adds up the prices of bookings, tickets and reservations, the online payments, and the refunds. It
// counts each amount on the date on which the booking, event or reservation begins.
func (o *UseCases) ReportRevenue(ctx context.Context, slug string,
	q report.Query) (*report.Report[report.RevenueRow], error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	sold, err := o.Bookings.RevenueReport(ctx, business.ID, addDefaultLocation(business, q))
	if err != nil {
		return nil, err
	}
	for i := range sold.Rows {
		updateName(business, &sold.Rows[i].Group)
	}
	revenue, err := o.Rentals.ForBusiness(business.ID).RevenueReport(ctx, slug, q)
	if err != nil {
		return nil, err
	}
	// The slice must not be nil: in JSON, the rows are [] even if nothing was sold.
	rows := append(append([]report.RevenueRow{}, sold.Rows...), revenue.Rows...)
	slices.SortStableFunc(rows, func(a, b report.RevenueRow) int { return cmp.Compare(a.Date, b.Date) })
	return &report.Report[report.RevenueRow]{Query: q, Timezone: business.Timezone, Rows: rows}, nil
}

// ReportUtilisation compares the booked time of members with their working time. The working time comes from the newest
// published offer, even for past dates. A report by [report.Staff] has one row for each member. Fault:
// invalid_parameter for a report by location, service or kind of customers, because past time is stored without them.
func (o *UseCases) ReportUtilisation(ctx context.Context, slug string,
	q report.Query) (*report.Report[report.UtilisationRow], error) {
	if !q.By.IsTime() && q.By != report.Staff {
		return nil, request.Invalid("by: write day, week, month or staff; the time of members is not added up by %s.",
			q.By)
	}
	periods := q
	if q.By == report.Staff {
		periods.By = report.Month // few rows; they are added up below
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	staffTimeReport, err := o.Bookings.StaffTimeReport(ctx, business.ID, periods, business.Timezone)
	if err != nil {
		return nil, err
	}
	open, err := availability.ComputeWorkingTime.Call(ctx, o.Availability, availability.WorkingTimeRequest{
		Slug: business.Slug, OfferVersion: business.Version, Query: periods})
	if err != nil {
		return nil, err
	}
	if q.By == report.Staff {
		for i := range staffTimeReport.Rows {
			staffTimeReport.Rows[i].Date = q.From
		}
		for i := range open.Rows {
			open.Rows[i].Date = q.From
		}
	}
	return &report.Report[report.UtilisationRow]{Query: q, Timezone: business.Timezone,
		Rows: computeUtilisation(business, staffTimeReport.Rows, open.Rows)}, nil
}

// computeUtilisation returns a row for each member and period with booked time or working time. The rows are sorted by
// date. The rows of one date are in the order of the members in the offer. Bookings are assigned to members in the same
// order. Members who are no longer in the offer come last.
func computeUtilisation(offer *catalog.Snapshot, staffTimeRows []booking.StaffTimeRow,
	open []availability.WorkingTimeRow) []report.UtilisationRow {
	type place struct {
		date   timespan.Date
		member uuid.UUID
	}
	rows := make(map[place]*report.UtilisationRow, len(open))
	at := func(date timespan.Date, member uuid.UUID) *report.UtilisationRow {
		row := rows[place{date, member}]
		if row == nil {
			row = &report.UtilisationRow{Date: date, StaffID: member}
			rows[place{date, member}] = row
		}
		return row
	}
	for _, b := range staffTimeRows {
		at(b.Date, b.StaffID).BookedMinutes += b.Minutes
	}
	for _, w := range open {
		at(w.Date, w.StaffID).OpenMinutes += w.Minutes
	}
	order := make(map[uuid.UUID]int, len(offer.Staff))
	for i := range offer.Staff {
		order[offer.Staff[i].ID] = i + 1
	}
	list := make([]report.UtilisationRow, 0, len(rows))
	for _, row := range rows {
		if i := order[row.StaffID]; i > 0 {
			row.StaffName = offer.Staff[i-1].Name
		}
		if row.OpenMinutes > 0 {
			share := float64(row.BookedMinutes) / float64(row.OpenMinutes)
			row.Utilisation = &share
		}
		list = append(list, *row)
	}
	slices.SortFunc(list, func(a, b report.UtilisationRow) int {
		known := func(r report.UtilisationRow) int { return cmp.Or(order[r.StaffID], len(order)+1) }
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(known(a), known(b)),
			slices.Compare(a.StaffID[:], b.StaffID[:]))
	})
	return list
}
