package command

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

func (c *command) newBookingsGroup() *cobra.Command {
	of := saleKind[booking.Booking]{"bookings", "a booking", newBookingTable,
		func(b booking.Booking) (*booking.Payment, string) {
			return b.Payment, b.Currency
		}}
	return newGroup("bookings", "Look after a business's bookings",
		append(newRefundCommands(c, of, "its time is free again"),
			c.newListBookingsCommand(), c.newShowBookingCommand(), c.newAffectedCommand(), c.newBookCommand(),
			c.newRescheduleCommand(),
			c.newRelocateCommand(),
			newTransitionCommand(c, "bookings", booking.TransitionConfirm, "Confirm a pending booking",
				newBookingTable),
			newTransitionCommand(c, "bookings", booking.TransitionComplete, "Say that a confirmed booking took place",
				newBookingTable),
			newTransitionCommand(c, "bookings", booking.TransitionNoShow,
				"Say that the customer of a confirmed booking did not come",
				newBookingTable),
			newTransitionCommand(c, "bookings", booking.TransitionReopen,
				"Take complete or no-show back, until the end of the next day",
				newBookingTable))...)
}

func (c *command) newListBookingsCommand() *cobra.Command {
	var from, to, status, query, service, staff, location, source, payment string
	cmd := newListEntriesCommand(c, "bookings", "List a business's bookings by their start", map[string]*string{
		"from": &from, "to": &to, "status": &status, "query": &query, "service_id": &service, "staff_id": &staff,
		"location_id": &location, "source": &source, "payment": &payment,
	}, func(list []booking.Booking) any { return booking.BookingList{Bookings: list} }, newBookingTable)
	cmd.Flags().StringVar(&from, "from", "", "from this date on, YYYY-MM-DD")
	cmd.Flags().StringVar(&to, "to", "", "up to this date, included")
	cmd.Flags().StringVar(&status, "status", "", "only those with this status")
	cmd.Flags().StringVar(&query, "query", "",
		"only those whose customer has this in a name, an address or a phone number")
	cmd.Flags().StringVar(&service, "service", "", "only those of a service, by its key, name or id")
	cmd.Flags().StringVar(&staff, "staff", "", "only those with a member, by their key, name or id")
	cmd.Flags().StringVar(&location, "location", "", "only those at a location, by its key or id")
	cmd.Flags().StringVar(&source, "source", "", "only those that were booked there, such as page, api or dashboard")
	cmd.Flags().StringVar(&payment, "payment", "",
		"only those that are paid online and whose payment is open, paid or cancelled")
	mustComplete(cmd, "status", booking.Statuses()...)
	mustComplete(cmd, "payment", booking.PaymentStatuses()...)
	return cmd
}

func (c *command) newShowBookingCommand() *cobra.Command {
	cmd := c.newBusinessCommand("show SLUG ID", "Show all of one booking", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var found booking.Booking
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], "bookings", args[1]), nil,
				&found); err != nil {
				return err
			}
			if c.output == "" {
				return c.printYAML(found) // the booking has more fields than a table shows
			}
			return c.print(found, newBookingTable(found))
		})
	cmd.Example = "  slotmesh bookings show harbor 0190163d-8694-739b-aea5-966c26f8ad91"
	return cmd
}

func newBookingTable(list ...booking.Booking) table {
	t := table{head: []string{"ID", "DATE", "TIME", "STATUS", "CUSTOMER", "STAFF", "SERVICES", "TOTAL", "SOURCE"}}
	for _, b := range list {
		staff := "-"
		if b.StaffName != nil {
			staff = *b.StaffName
		}
		services := make([]string, 0, len(b.Services))
		for _, s := range b.Services {
			name := s.Name
			if s.Quantity > 1 {
				name += fmt.Sprintf(" (%d × %s)", s.Quantity, s.UnitPrice)
			}
			services = append(services, name)
		}
		t.rows = append(t.rows, []string{b.ID.String(), b.Date, formatClock(b.StartTime) + "-" + formatClock(b.EndTime),
			b.Status,
			b.CustomerName, staff, strings.Join(services, ", "), b.Total.String() + " " + b.Currency, b.Source})
	}
	return t
}

// formatClock removes the seconds from a time of day, because they are always 0.
func formatClock(t string) string { return strings.TrimSuffix(t, ":00") }
