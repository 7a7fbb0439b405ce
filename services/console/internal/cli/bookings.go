package cli

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

func (c *command) bookings() *cobra.Command {
	return group("bookings", "Look after a business's bookings", c.listBookings(),
		c.moveBooking(booking.MoveConfirm, "Confirm a pending booking"),
		c.moveBooking(booking.MoveCancel, "Cancel a booking; its time is free again"),
		c.moveBooking(booking.MoveComplete, "Say that a confirmed booking took place"),
		c.moveBooking(booking.MoveNoShow, "Say that the customer of a confirmed booking did not come"))
}

func (c *command) listBookings() *cobra.Command {
	var from, to, status string
	cmd := &cobra.Command{
		Use:               "list SLUG",
		Short:             "List a business's bookings by their start",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeSlug,
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			query := url.Values{}
			for name, value := range map[string]string{"from": from, "to": to, "status": status} {
				if value != "" {
					query.Set(name, value)
				}
			}
			list, err := pages[booking.Booking](cmd.Context(), client, at(args[0], "bookings"), "bookings", query)
			if err != nil {
				return err
			}
			return c.print(booking.BookingList{Bookings: list}, bookingTable(list...))
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "from this date on, YYYY-MM-DD")
	cmd.Flags().StringVar(&to, "to", "", "up to this date, included")
	cmd.Flags().StringVar(&status, "status", "", "only those with this status")
	mustComplete(cmd, "status", booking.StatusPending, booking.StatusConfirmed, booking.StatusCompleted,
		booking.StatusNoShow, booking.StatusCancelled)
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

func (c *command) moveBooking(move, short string) *cobra.Command {
	return &cobra.Command{
		Use:               move + " SLUG ID",
		Short:             short,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: c.completeSlug,
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			var moved booking.Booking
			if err := client.call(cmd.Context(), http.MethodPost, at(args[0], "bookings", args[1], move), nil, &moved); err != nil {
				return err
			}
			return c.print(moved, bookingTable(moved))
		}),
	}
}
