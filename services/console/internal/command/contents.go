package command

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// listed returns the commands that list the services, members, events and rentals of an offer, each with its key. The
// other commands accept these keys instead of ids.
func (c *command) listed() []*cobra.Command {
	return []*cobra.Command{
		group("services", "Show what a business offers at appointments and in classes", c.listContents(aService,
			"List the services, with their keys", []string{"MINUTES", "PRICE"}, func(o *contents, i int) []string {
				s := &o.Services[i]
				return []string{strconv.Itoa(s.DurationMinutes), price(o, s.Price)}
			})),
		group("staff", "Show who works at a business", c.listContents(aMember,
			"List the members of the staff, with their keys", []string{"ACTIVE"}, func(o *contents, i int) []string {
				return []string{yes(o.Staff[i].IsActive())}
			})),
		group("events", "Show a business's events",
			c.listContents(anEvent, "List the events, with their keys and those of their tiers",
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
		group("rentals", "Show what a business rents out", c.listContents(aRental, "List the rentals, with their keys",
			[]string{"PRICE"}, func(o *contents, i int) []string {
				return []string{price(o, o.Rentals[i].Price)}
			})),
	}
}

func (c *command) listContents(kind, short string, head []string, more func(*contents, int) []string) *cobra.Command {
	return c.ofBusiness("list SLUG", short, 1, func(cmd *cobra.Command, args []string, client *client) error {
		offer, err := client.contents(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		entries := offer.of(kind)
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

// price returns the price `amount` as text, with the currency of the manifest `o`. It returns "free" for the price 0.
// The price is the one before any pricing rule.
func price(o *contents, amount manifest.Decimal) string {
	if amount.IsZero() {
		return "free"
	}
	return amount.String() + " " + string(o.Currency)
}
