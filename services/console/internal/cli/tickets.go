package cli

import (
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

func (c *command) tickets() *cobra.Command {
	return group("tickets", "Sell tickets of a business's events", c.listTickets(), c.sellTickets(),
		moveEntry(c, "tickets", "cancel", "Cancel an order of tickets; they are for sale again", ticketTable))
}

func (c *command) listTickets() *cobra.Command {
	var event string
	cmd := listEntries(c, "tickets", "List orders of tickets, oldest first", map[string]*string{"event_id": &event},
		func(list []booking.Ticket) any { return booking.TicketList{Tickets: list} }, ticketTable)
	cmd.Flags().StringVar(&event, "event", "", "those of the event with this id only")
	return cmd
}

func ticketTable(list ...booking.Ticket) table {
	t := table{head: []string{"ID", "EVENT", "DATE", "TIER", "QUANTITY", "STATUS", "CUSTOMER"}}
	for _, o := range list {
		t.rows = append(t.rows, []string{o.ID.String(), o.EventName, o.Date, o.TierName, strconv.Itoa(o.Quantity), o.Status, o.CustomerName})
	}
	return t
}

func (c *command) sellTickets() *cobra.Command {
	var order struct {
		EventID       string `json:"event_id"`
		TierID        string `json:"tier_id"`
		Quantity      int    `json:"quantity"`
		CustomerName  string `json:"customer_name"`
		CustomerEmail string `json:"customer_email"`
		Locale        string `json:"locale"`
	}
	cmd := c.ofBusiness("sell SLUG", "Sell tickets of one tier of an event to a customer", 1, func(cmd *cobra.Command, args []string, client *client) error {
		var sold booking.Ticket
		if err := client.call(cmd.Context(), http.MethodPost, at(args[0], "tickets"), order, &sold); err != nil {
			return err
		}
		return c.print(sold, ticketTable(sold))
	})
	flags := cmd.Flags()
	flags.StringVar(&order.EventID, "event", "", "id of the event")
	flags.StringVar(&order.TierID, "tier", "", "id of the tier")
	flags.IntVar(&order.Quantity, "quantity", 1, "how many tickets")
	flags.StringVar(&order.CustomerName, "customer", "", "the customer's name")
	addCustomer(flags, &order.CustomerEmail, &order.Locale)
	return mustRequire(cmd, "event", "tier", "customer")
}
