package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

func (c *command) bookings() *cobra.Command {
	return group("bookings", "Look after a business's bookings", c.listBookings(), c.book(), c.reschedule(),
		moveEntry(c, "bookings", booking.MoveConfirm, "Confirm a pending booking", bookingTable),
		c.cancelBooking(), c.previewCancellation(), c.refundBooking(),
		moveEntry(c, "bookings", booking.MoveComplete, "Say that a confirmed booking took place", bookingTable),
		moveEntry(c, "bookings", booking.MoveNoShow, "Say that the customer of a confirmed booking did not come", bookingTable))
}

func (c *command) listBookings() *cobra.Command {
	var from, to, status, query, service, staff, source, payment string
	cmd := listEntries(c, "bookings", "List a business's bookings by their start", map[string]*string{
		"from": &from, "to": &to, "status": &status, "query": &query, "service_id": &service, "staff_id": &staff, "source": &source, "payment": &payment,
	}, func(list []booking.Booking) any { return booking.BookingList{Bookings: list} }, bookingTable)
	cmd.Flags().StringVar(&from, "from", "", "from this date on, YYYY-MM-DD")
	cmd.Flags().StringVar(&to, "to", "", "up to this date, included")
	cmd.Flags().StringVar(&status, "status", "", "only those with this status")
	cmd.Flags().StringVar(&query, "query", "", "only those whose customer has this in a name, an address or a phone number")
	cmd.Flags().StringVar(&service, "service", "", "only those of a service, by its id")
	cmd.Flags().StringVar(&staff, "staff", "", "only those with a member, by their id")
	cmd.Flags().StringVar(&source, "source", "", "only those that were booked there, such as page, api or dashboard")
	cmd.Flags().StringVar(&payment, "payment", "", "only those that are paid online and whose payment is open, paid or cancelled")
	mustComplete(cmd, "status", booking.Statuses()...)
	mustComplete(cmd, "payment", booking.PaymentStatuses()...)
	return cmd
}

func bookingTable(list ...booking.Booking) table {
	t := table{head: []string{"ID", "DATE", "TIME", "STATUS", "CUSTOMER", "STAFF", "SERVICES", "TOTAL", "SOURCE"}}
	for _, b := range list {
		staff := "-"
		if b.StaffName != nil {
			staff = *b.StaffName
		}
		services := make([]string, 0, len(b.Services))
		for _, s := range b.Services {
			services = append(services, s.Name)
		}
		t.rows = append(t.rows, []string{b.ID.String(), b.Date, clockTime(b.StartTime) + "-" + clockTime(b.EndTime), b.Status,
			b.CustomerName, staff, strings.Join(services, ", "), b.Total.String() + " " + b.Currency, b.Source})
	}
	return t
}

// clockTime leaves out the seconds, which are always 0.
func clockTime(t string) string { return strings.TrimSuffix(t, ":00") }
