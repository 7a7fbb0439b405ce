package command

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
)

func (c *command) newTicketsGroup() *cobra.Command {
	of := saleKind[booking.Ticket]{"tickets", "an order of tickets", newTicketTable,
		func(t booking.Ticket) (*booking.Payment, string) {
			return t.Payment, t.Currency
		}}
	return newGroup("tickets", "Sell tickets of a business's events",
		append(newRefundCommands(c, of, "they are for sale again"), c.newListTicketsCommand(),
			c.newSellTicketsCommand())...)
}

func (c *command) newListTicketsCommand() *cobra.Command {
	var event, query, payment string
	cmd := newListEntriesCommand(c, "tickets", "List orders of tickets, oldest first",
		map[string]*string{"event_id": &event, "query": &query, "payment": &payment},
		func(list []booking.Ticket) any { return booking.TicketList{Tickets: list} }, newTicketTable)
	cmd.Flags().StringVar(&event, "event", "", "those of this event only, by key, name or id")
	cmd.Flags().StringVar(&query, "query", "", "those whose customer's name or address has these words")
	cmd.Flags().StringVar(&payment, "payment", "", "those paid online of which the payment is in this state")
	mustComplete(cmd, "payment", booking.PaymentStatuses()...)
	return cmd
}

func newTicketTable(list ...booking.Ticket) table {
	t := table{head: []string{"ID", "EVENT", "DATE", "TIER", "QUANTITY", "STATUS", "CUSTOMER"}}
	for _, o := range list {
		t.rows = append(t.rows, []string{o.ID.String(), o.EventName, o.Date, o.TierName, strconv.Itoa(o.Quantity),
			o.Status, o.CustomerName})
	}
	return t
}

// ticketOrder is the body of a request that orders tickets of one or several tiers of an event.
type ticketOrder struct {
	EventID       string                    `json:"event_id"`
	TierID        string                    `json:"tier_id,omitempty"`
	Quantity      int                       `json:"quantity,omitempty"`
	Tiers         []bookingclient.AskedTier `json:"tiers,omitempty"`
	CustomerName  string                    `json:"customer_name"`
	CustomerEmail string                    `json:"customer_email"`
	CustomerPhone string                    `json:"customer_phone"`
	Locale        string                    `json:"locale"`
}

func (c *command) newSellTicketsCommand() *cobra.Command {
	var (
		order    ticketOrder
		tiers    []string
		quantity int
	)
	cmd := c.newBusinessCommand("sell SLUG", "Sell tickets of one or more tiers of an event to a customer, all or none",
		1,
		func(cmd *cobra.Command, args []string, client *client) error {
			called := client.newNameResolver(args[0])
			if err := called.resolve(cmd.Context(), kindEvent, &order.EventID); err != nil {
				return err
			}
			order.Tiers = nil
			for _, text := range tiers {
				tier := parseTier(text, quantity)
				if err := called.resolveTier(cmd.Context(), order.EventID, &tier.TierID); err != nil {
					return err
				}
				order.Tiers = append(order.Tiers, tier)
			}
			if one := order.Tiers[0]; len(order.Tiers) == 1 {
				order.TierID, order.Quantity, order.Tiers = one.TierID, one.Quantity, nil
			}
			var ticket booking.Ticket
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "tickets"), order,
				&ticket); err != nil {
				return err
			}
			return c.print(ticket, newTicketTable(ticket))
		})
	flags := cmd.Flags()
	flags.StringVar(&order.EventID, "event", "", "key, name or id of the event")
	flags.StringArrayVar(&tiers, "tier", nil,
		"key, name or id of a tier, such as front, or front=2 for two tickets of it; again for each further one")
	flags.IntVar(&quantity, "quantity", 1, "how many tickets of a tier that says no number")
	flags.StringVar(&order.CustomerName, "customer", "", "the customer's name")
	addCustomer(flags, &order.CustomerEmail, &order.CustomerPhone, &order.Locale)
	return mustRequire(cmd, "event", "tier", "customer")
}

// parseTier parses the value of the flag --tier, such as front=2: the tier and the number of its tickets. If `text`
// does not end with "=" and a number, the whole text is the tier, and `quantity` is the number of its tickets.
func parseTier(text string, quantity int) bookingclient.AskedTier {
	if at := strings.LastIndexByte(text, '='); at >= 0 {
		if n, err := strconv.Atoi(strings.TrimSpace(text[at+1:])); err == nil {
			return bookingclient.AskedTier{TierID: strings.TrimSpace(text[:at]), Quantity: n}
		}
	}
	return bookingclient.AskedTier{TierID: text, Quantity: quantity}
}
