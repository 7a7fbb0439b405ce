package command

import (
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (c *command) newReservationsGroup() *cobra.Command {
	of := saleKind[rental.Reservation]{"reservations", "a reservation", newReservationTable,
		func(r rental.Reservation) (*booking.Payment, string) {
			return r.Payment, r.Currency
		}}
	return newGroup("reservations", "Look after a business's rental reservations",
		append(newRefundCommands(c, of, "its units are free again"),
			c.newListReservationsCommand(), c.newCreateReservationCommand(),
			newTransitionCommand(c, "reservations", rental.TransitionPickup,
				"Say that the units of a reservation were picked up",
				newReservationTable),
			newTransitionCommand(c, "reservations", rental.TransitionReturn,
				"Say that the units of a reservation are back",
				newReservationTable))...)
}

func (c *command) newListReservationsCommand() *cobra.Command {
	var from, to, status, payment string
	cmd := newListEntriesCommand(c, "reservations",
		"List a business's reservations by their start; late ones are marked overdue",
		map[string]*string{"from": &from, "to": &to, "status": &status, "payment": &payment},
		func(list []rental.Reservation) any { return rental.ReservationList{Reservations: list} }, newReservationTable)
	cmd.Flags().StringVar(&from, "from", "", "those that touch this date or later ones, YYYY-MM-DD")
	cmd.Flags().StringVar(&to, "to", "", "those that touch this date or earlier ones")
	cmd.Flags().StringVar(&status, "status", "", "only those with this status")
	mustComplete(cmd, "status", rental.Statuses()...)
	cmd.Flags().StringVar(&payment, "payment", "", "those paid online of which the payment is in this state")
	mustComplete(cmd, "payment", booking.PaymentStatuses()...)
	return cmd
}

func newReservationTable(list ...rental.Reservation) table {
	t := table{head: []string{"ID", "RENTAL", "QUANTITY", "FROM", "TO", "STATUS", "CUSTOMER"}}
	for _, r := range list {
		status := r.Status
		if r.Overdue {
			status += " (overdue)"
		}
		t.rows = append(t.rows, []string{r.ID.String(), r.RentalName, strconv.Itoa(r.Quantity),
			formatMoment(r.StartDate, r.StartTime), formatMoment(r.EndDate, r.EndTime), status, r.CustomerName})
	}
	return t
}

// formatMoment returns the date `d` as text. If the time of day `t` is not nil, the text also contains this time.
func formatMoment(d timespan.Date, t *timespan.TimeOfDay) string {
	if t == nil {
		return d.String()
	}
	return d.String() + " " + t.String()
}

func (c *command) newCreateReservationCommand() *cobra.Command {
	var (
		newReservation rental.NewReservation
		start, end     string
		address, phone string
	)
	cmd := c.newBusinessCommand("create SLUG", "Reserve units of a rental for a customer", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			if start != "" {
				newReservation.StartTime = &start
			}
			if end != "" {
				newReservation.EndTime = &end
			}
			newReservation.CustomerEmail, newReservation.CustomerPhone = &address, &phone
			if err := client.newNameResolver(args[0]).resolve(cmd.Context(), kindRental,
				&newReservation.RentalID); err != nil {
				return err
			}
			var reservation rental.Reservation
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "reservations"), newReservation,
				&reservation); err != nil {
				return err
			}
			warn(cmd, reservation.Warnings)
			return c.print(reservation, newReservationTable(reservation))
		})
	flags := cmd.Flags()
	flags.StringVar(&newReservation.RentalID, "rental", "", "key, name or id of the rental")
	flags.StringVar(&newReservation.StartDate, "start", "", "first date, YYYY-MM-DD")
	flags.StringVar(&newReservation.EndDate, "end", "", "last date, included")
	flags.StringVar(&start, "start-time", "", "HH:MM on the first date, of a rental by the hour")
	flags.StringVar(&end, "end-time", "", "HH:MM on the last date, of a rental by the hour")
	flags.IntVar(&newReservation.Quantity, "quantity", 1, "how many units")
	flags.StringVar(&newReservation.CustomerName, "customer", "", "the customer's name")
	addCustomer(flags, &address, &phone, &newReservation.Locale)
	return mustRequire(cmd, "rental", "start", "end", "customer")
}
