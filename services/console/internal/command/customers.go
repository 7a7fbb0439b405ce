package command

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
)

func (c *command) newCustomersGroup() *cobra.Command {
	return newGroup("customers", "See who the customers of a business are, what is held of them, and forget them",
		c.newListCustomersCommand(), c.newExportCustomerCommand(), c.newEraseCustomerCommand())
}

func (c *command) newListCustomersCommand() *cobra.Command {
	var query string
	cmd := newListEntriesCommand(c, "customers", "List a business's customers by address",
		map[string]*string{"query": &query},
		func(list []customer.Customer) any { return customer.List{Customers: list} }, newCustomerTable)
	cmd.Example = "  slotmesh customers list harbor-studio --query lovelace"
	cmd.Flags().StringVar(&query, "query", "", "those with this in a name, an address or a phone number")
	return cmd
}

func newCustomerTable(list ...customer.Customer) table {
	t := table{head: []string{"EMAIL", "NAME", "PHONE", "BOOKINGS", "TICKETS", "RESERVATIONS", "LAST"}}
	for _, one := range list {
		phone := "-"
		if one.Phone != nil {
			phone = *one.Phone
		}
		t.rows = append(t.rows, []string{one.Email, one.Name, phone, strconv.Itoa(one.Bookings),
			strconv.Itoa(one.Tickets),
			strconv.Itoa(one.Reservations), formatInstant(&one.LastAt)})
	}
	return t
}

// newExportCustomerCommand returns the command that exports the data of a customer. The command prints YAML if the user
// requests YAML. Otherwise it prints JSON, never a table, because the exported data is for other programs.
func (c *command) newExportCustomerCommand() *cobra.Command {
	var email string
	cmd := c.newBusinessCommand("export SLUG --email ADDRESS", "Print all that is held of a customer, as JSON", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var data json.RawMessage
			path := buildPath(args[0], "customers", "export") + "?" + url.Values{"email": {email}}.Encode()
			if err := client.call(cmd.Context(), http.MethodGet, path, nil, &data); err != nil {
				return err
			}
			if c.output == yamlFormat {
				return c.printYAML(data)
			}
			return c.printJSON(data)
		})
	cmd.Example = "  slotmesh customers export harbor-studio --email ada@example.com > ada.json"
	cmd.Flags().StringVar(&email, "email", "", "the customer's address")
	return mustRequire(cmd, "email")
}

func (c *command) newEraseCustomerCommand() *cobra.Command {
	var erase customer.Erase
	cmd := c.newBusinessCommand("erase SLUG --email ADDRESS",
		"Forget a customer; what was sold, when and for how much stays",
		1, func(cmd *cobra.Command, args []string, client *client) error {
			var forgotten customer.Forgotten
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "customers", "erase"), erase,
				&forgotten); err != nil {
				return err
			}
			if err := c.printDone(forgotten,
				"Forgotten: %d bookings, %d orders of tickets, %d reservations, %d messages, %d "+
					"deliveries of webhooks.",
				forgotten.Bookings, forgotten.Tickets, forgotten.Reservations, forgotten.Messages,
				forgotten.Deliveries); err != nil || len(forgotten.Ahead) == 0 || c.output == jsonFormat ||
				c.output == yamlFormat {
				return err
			}
			t := table{head: []string{"KEPT", "ID", "STATUS", "STARTS"}}
			for _, one := range forgotten.Ahead {
				t.rows = append(t.rows, []string{one.Kind, one.ID.String(), one.Status, formatInstant(&one.StartsAt)})
			}
			return c.printTable(t)
		})
	cmd.Long = `Forgets a customer: name, address, phone number, form and link are gone at once from all that has ended or is
cancelled, and with them messages and deliveries of webhooks, sent or not. What lies ahead is kept and listed, unless --force is
given. Where a service was away, repeat it: what the others forgot stays forgotten.`
	cmd.Example = "  slotmesh customers erase harbor-studio --email ada@example.com"
	cmd.Flags().StringVar(&erase.Email, "email", "", "the customer's address")
	cmd.Flags().BoolVar(&erase.Force, "force", false,
		"forget the customer of what lies ahead, too; its time stays taken")
	return mustRequire(cmd, "email")
}
