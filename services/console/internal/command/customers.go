package command

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
)

func (c *command) newCustomersGroup() *cobra.Command {
	return newGroup("customers", "See who the customers of a business are, what is held of them, and forget them",
		c.newListCustomersCommand(), c.newShowCustomerCommand(), c.newChangeCustomerCommand(), c.newMergeCommand(),
		c.newSeparateCommand(), c.newImportCustomersCommand(), c.newListImportsCommand(), c.newUndoImportCommand(),
		c.newExportCustomerCommand(), c.newEraseCustomerCommand())
}

func (c *command) newListCustomersCommand() *cobra.Command {
	var query, tag string
	cmd := newListEntriesCommand(c, "customers", "List a business's customers by address",
		map[string]*string{"query": &query, "tag": &tag},
		func(list []customer.Customer) any { return customer.List{Customers: list} }, newCustomerTable)
	cmd.Example = "  slotmesh customers list harbor-studio --query lovelace"
	cmd.Flags().StringVar(&query, "query", "", "those with this in a name, an address, a phone number or a tag")
	cmd.Flags().StringVar(&tag, "tag", "", "those with this tag")
	return cmd
}

// addAddress adds the flags that name a customer. One of them is required.
func addAddress(cmd *cobra.Command, email, phone *string) *cobra.Command {
	cmd.Flags().StringVar(email, "email", "", "an e-mail address of the customer")
	cmd.Flags().StringVar(phone, "phone", "", "a telephone number of the customer")
	cmd.MarkFlagsOneRequired("email", "phone")
	cmd.MarkFlagsMutuallyExclusive("email", "phone")
	return cmd
}

// newCustomerQuery returns the query that names a customer in the admin API.
func newCustomerQuery(email, phone string) string {
	if phone != "" {
		return url.Values{"phone": {phone}}.Encode()
	}
	return url.Values{"email": {email}}.Encode()
}

func newCustomerTable(list ...customer.Customer) table {
	t := table{head: []string{"EMAIL", "NAME", "PHONE", "BOOKINGS", "TICKETS", "RESERVATIONS", "LAST", "TAGS"}}
	for _, one := range list {
		phone := "-"
		if one.Phone != nil {
			phone = *one.Phone
		}
		t.rows = append(t.rows, []string{one.Email, one.Name, phone, strconv.Itoa(one.Bookings),
			strconv.Itoa(one.Tickets),
			strconv.Itoa(one.Reservations), formatInstant(&one.LastAt), strings.Join(one.Tags, ", ")})
	}
	return t
}

// newExportCustomerCommand returns the command that exports the data of a customer. The command prints YAML if the user
// requests YAML. Otherwise it prints JSON, never a table, because the exported data is for other programs.
func (c *command) newExportCustomerCommand() *cobra.Command {
	var email, phone string
	cmd := c.newBusinessCommand("export SLUG {--email ADDRESS | --phone NUMBER}",
		"Print all that is held of a customer, as JSON", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var data json.RawMessage
			path := buildPath(args[0], "customers", "export") + "?" +
				newCustomerQuery(email, phone)
			if err := client.call(cmd.Context(), http.MethodGet, path, nil, &data); err != nil {
				return err
			}
			if c.output == yamlFormat {
				return c.printYAML(data)
			}
			return c.printJSON(data)
		})
	cmd.Example = "  slotmesh customers export harbor-studio --email ada@example.com > ada.json"
	return addAddress(cmd, &email, &phone)
}

func (c *command) newEraseCustomerCommand() *cobra.Command {
	var erase customer.Erase
	cmd := c.newBusinessCommand("erase SLUG {--email ADDRESS | --phone NUMBER}",
		"Forget a customer; what was sold, when and for how much stays",
		1, func(cmd *cobra.Command, args []string, client *client) error {
			var forgotten customer.Forgotten
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "customers", "erase"), erase,
				&forgotten); err != nil {
				return err
			}
			if err := c.printDone(forgotten,
				"Forgotten: %d bookings, %d orders of tickets, %d reservations, %d messages, %d "+
					"deliveries of webhooks, %d records.",
				forgotten.Bookings, forgotten.Tickets, forgotten.Reservations, forgotten.Messages,
				forgotten.Deliveries, forgotten.Records); err != nil || len(forgotten.Ahead) == 0 || c.output == jsonFormat ||
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
cancelled, with notes and tags, and with them messages and deliveries of webhooks, sent or not. What lies ahead is kept and listed, unless --force is
given. Where a service was away, repeat it: what the others forgot stays forgotten.`
	cmd.Example = "  slotmesh customers erase harbor-studio --email ada@example.com"
	cmd.Flags().BoolVar(&erase.Force, "force", false,
		"forget the customer of what lies ahead, too; its time stays taken")
	return addAddress(cmd, &erase.Email, &erase.Phone)
}
