package cli

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

func (c *command) tickets() *cobra.Command {
	return group("tickets", "Sell tickets of a business's events", c.listTickets(), c.sellTickets(), c.cancelTickets())
}

func (c *command) listTickets() *cobra.Command {
	var event string
	cmd := &cobra.Command{
		Use:               "list SLUG",
		Short:             "List orders of tickets, oldest first",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeSlug,
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			query := url.Values{}
			if event != "" {
				query.Set("event_id", event)
			}
			list, err := pages[booking.Ticket](cmd.Context(), client, at(args[0], "tickets"), "tickets", query)
			if err != nil {
				return err
			}
			return c.print(booking.TicketList{Tickets: list}, ticketTable(list...))
		}),
	}
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
		EventID      string `json:"event_id"`
		TierID       string `json:"tier_id"`
		Quantity     int    `json:"quantity"`
		CustomerName string `json:"customer_name"`
	}
	cmd := &cobra.Command{
		Use:               "sell SLUG",
		Short:             "Sell tickets of one tier of an event to a customer",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeSlug,
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			var sold booking.Ticket
			if err := client.call(cmd.Context(), http.MethodPost, at(args[0], "tickets"), order, &sold); err != nil {
				return err
			}
			return c.print(sold, ticketTable(sold))
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&order.EventID, "event", "", "id of the event")
	flags.StringVar(&order.TierID, "tier", "", "id of the tier")
	flags.IntVar(&order.Quantity, "quantity", 1, "how many tickets")
	flags.StringVar(&order.CustomerName, "customer", "", "the customer's name")
	for _, name := range []string{"event", "tier", "customer"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // only for a flag that does not exist
		}
	}
	return cmd
}

func (c *command) cancelTickets() *cobra.Command {
	return &cobra.Command{
		Use:               "cancel SLUG ID",
		Short:             "Cancel an order of tickets; they are for sale again",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: c.completeSlug,
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			var cancelled booking.Ticket
			if err := client.call(cmd.Context(), http.MethodPost, at(args[0], "tickets", args[1], "cancel"), nil, &cancelled); err != nil {
				return err
			}
			return c.print(cancelled, ticketTable(cancelled))
		}),
	}
}
