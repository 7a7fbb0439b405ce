package command

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// newContentsCommands returns the commands that list the services, members, events and rentals of an offer, each with
// its key. The other commands accept these keys instead of ids.
func (c *command) newContentsCommands() []*cobra.Command {
	return []*cobra.Command{
		newGroup("services", "Show what a business offers at appointments and in classes",
			c.newContentsCommand(kindService,
				"List the services, with their keys", []string{"MINUTES", "PRICE"}, func(o *contents, i int) []string {
					s := &o.Services[i]
					return []string{strconv.Itoa(s.DurationMinutes), formatPrice(o, s.Price)}
				})),
		newGroup("staff", "Show who works at a business", c.newContentsCommand(kindMember,
			"List the members of the staff, with their keys", []string{"ACTIVE"}, func(o *contents, i int) []string {
				return []string{formatYes(o.Staff[i].IsActive())}
			})),
		newGroup("events", "Show a business's events",
			c.newContentsCommand(kindEvent, "List the events, with their keys and those of their tiers",
				[]string{"DATE", "TIERS"}, func(o *contents, i int) []string {
					e := &o.Events[i]
					tiers := ""
					for k := range e.Tiers {
						if k > 0 {
							tiers += ", "
						}
						tiers += string(e.Tiers[k].Key)
					}
					return []string{e.Date.String() + " " + e.StartTime.String(), tiers}
				})),
		newGroup("rentals", "Show what a business rents out",
			c.newContentsCommand(kindRental, "List the rentals, with their keys",
				[]string{"PRICE"}, func(o *contents, i int) []string {
					return []string{formatPrice(o, o.Rentals[i].Price)}
				})),
	}
}

func (c *command) newContentsCommand(kind, short string, head []string,
	more func(*contents, int) []string) *cobra.Command {
	return c.newBusinessCommand("list SLUG", short, 1, func(cmd *cobra.Command, args []string, client *client) error {
		offer, err := client.loadContents(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		entries := offer.listKind(kind)
		t := table{head: append(append([]string{"KEY", "NAME"}, head...), "ID")}
		for i, e := range entries {
			t.rows = append(t.rows, append(append([]string{e.Key, e.Name}, more(offer, i)...), e.ID.String()))
		}
		if entries == nil {
			entries = []entry{}
		}
		return c.print(entries, t)
	})
}

// formatPrice returns the price `amount` as text, with the currency of the manifest `o`. It returns "free" for the
// price 0. The text ignores pricing rules.
func formatPrice(o *contents, amount manifest.Decimal) string {
	if amount.IsZero() {
		return "free"
	}
	return amount.String() + " " + string(o.Currency)
}
