package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/zone"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// parseReport parses the id of the business and the query parameters of a report. Fault: invalid_parameter.
func parseReport(c *fiber.Ctx) (uuid.UUID, report.Query, error) {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return uuid.Nil, report.Query{}, err
	}
	q, err := server.Query(c).Report()
	return businessID, q, err
}

func (in *Internal) serveBookingsReport(c *fiber.Ctx) error {
	businessID, q, err := parseReport(c)
	if err != nil {
		return err
	}
	rows, err := in.records.BookingsReport(c.UserContext(), businessID, q)
	if err != nil {
		return err
	}
	return c.JSON(booking.BookingsReport{Rows: rows})
}

func (in *Internal) serveRevenueReport(c *fiber.Ctx) error {
	businessID, q, err := parseReport(c)
	if err != nil {
		return err
	}
	rows, err := in.records.RevenueReport(c.UserContext(), businessID, q)
	if err != nil {
		return err
	}
	return c.JSON(report.Revenue{Rows: convertAll(rows, showRevenue)})
}

func showRevenue(r store.RevenueRow) report.RevenueRow {
	return report.RevenueRow{
		Date: r.Date, Kind: r.Kind, Currency: r.Currency.Code, Sold: r.Sold,
		Total: r.Currency.JSON(r.Total), Paid: r.Currency.JSON(r.Paid), Refunded: r.Currency.JSON(r.Refunded),
	}
}

func (in *Internal) serveStaffTimeReport(c *fiber.Ctx) error {
	businessID, q, err := parseReport(c)
	if err != nil {
		return err
	}
	timezone, err := server.Query(c).Required("timezone", "an IANA name such as Europe/Lisbon")
	if err != nil {
		return err
	}
	if _, err := zone.Load(timezone); err != nil {
		return request.Invalid("timezone: write an IANA name such as Europe/Lisbon.")
	}
	rows, err := in.records.StaffTimeReport(c.UserContext(), businessID, q, timezone)
	if err != nil {
		return err
	}
	return c.JSON(booking.StaffTimeReport{Rows: rows})
}
