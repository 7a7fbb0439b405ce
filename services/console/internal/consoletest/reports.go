package consoletest

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// March is the date on which the periods begin in the reports of the fakes of booking and availability.
var March = timespan.NewDate(2027, 3, 1)

// FormerMember is the id of a member who has left the business. Reports contain this member, but offers do not.
var FormerMember = uuid.MustParse("ffffffff-ffff-4fff-8fff-ffffffffffff")

// StoredLocation is the id of the only location in the fake's reports by location, with the stored name "Old pier".
var StoredLocation = uuid.MustParse("00000000-0000-4000-8000-0000000000a1")

// reportRows returns the same rows for every query of a report by dates.
func (s *Booking) reportRows(r *http.Request) (*reply, error) {
	if r.URL.Query().Get("by") == string(report.Location) {
		return reportLocations(r.PathValue("report"))
	}
	switch r.PathValue("report") {
	case "bookings":
		return newReply(booking.BookingsReport{Rows: []booking.BookingsRow{
			{Date: March, Source: "=cmd()", Bookings: 3, Completed: 2, Cancelled: 1, Guests: 5},
			{Date: March, Source: "api", Bookings: 1, NoShow: 1, Guests: 1},
		}})
	case "revenue":
		return newReply(report.Revenue{Rows: []report.RevenueRow{
			{Date: March, Kind: "booking", Currency: "EUR", Sold: 2, Total: "80.00", Paid: "40.00", Refunded: "10.00"},
		}})
	case "staff-time":
		return newReply(booking.StaffTimeReport{Rows: []booking.StaffTimeRow{{Date: March, StaffID: FormerMember,
			Minutes: 90}}})
	}
	return nil, fault.New(fault.NotFound, "There is nothing here.")
}

func reportLocations(name string) (*reply, error) {
	at := report.Group{LocationID: &StoredLocation, LocationName: "Old pier"}
	if name == "bookings" {
		return newReply(booking.BookingsReport{Rows: []booking.BookingsRow{
			{Date: March, Source: "api", Bookings: 7, Completed: 7, Guests: 8, Group: at}}})
	}
	return newReply(report.Revenue{Rows: []report.RevenueRow{
		{Date: March, Kind: "booking", Currency: "EUR", Sold: 7, Total: "280.00", Paid: "0.00", Refunded: "0.00",
			Group: at}}})
}

func (s *Rental) reportRevenue(*http.Request) (*reply, error) {
	return newReply(report.Revenue{Rows: []report.RevenueRow{
		{Date: March - 7, Kind: "reservation", Currency: "EUR", Sold: 1, Total: "24.00", Paid: "0.00",
			Refunded: "0.00"},
	}})
}
