package command

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

func (c *command) newAuditCommand() *cobra.Command {
	var subject, typ, from, to string
	var limit int
	cmd := c.newBusinessCommand("audit SLUG",
		"List what happened to a business and its bookings, newest first, and who did it",
		1,
		func(cmd *cobra.Command, args []string, client *client) error {
			if limit < 0 {
				return fmt.Errorf("--limit: %d is no number of lines; write how many to list at most, or 0 for all",
					limit)
			}
			query := url.Values{}
			for name, value := range map[string]string{"subject": subject, "type": typ, "from": from, "to": to} {
				if value != "" {
					query.Set(name, value)
				}
			}
			list, err := readUpTo[event.Event](cmd.Context(), client, buildPath(args[0], "events"), "events", query,
				limit)
			if err != nil {
				return err
			}
			return c.print(event.List{Events: list}, newEventTable(list))
		})
	cmd.Example = `  slotmesh audit harbor --limit 20
  slotmesh audit harbor --from 2026-11-01
  slotmesh audit harbor --subject 0190163d-8694-739b-aea5-966c26f8ad95 -o json
  slotmesh audit harbor --type key.created
  slotmesh audit harbor --subject member`
	cmd.Flags().StringVar(&subject, "subject", "",
		"only of this id, or of this kind: booking, ticket, reservation, key, business, customer, member or token")
	cmd.Flags().StringVar(&typ, "type", "", "only of this type, such as booking.cancelled")
	cmd.Flags().StringVar(&from, "from", "",
		"from this date (UTC) or instant on, such as 2026-11-21 or 2026-11-21T09:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "up to this date (UTC), included, or before this instant")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many, the newest; 0: all")
	var types []string
	for _, t := range slices.Concat(event.Types(), event.AuditTypes()) {
		types = append(types, string(t))
	}
	mustComplete(cmd, "type", types...)
	mustComplete(cmd, "subject", string(event.Booking), string(event.Ticket), string(event.Reservation),
		string(event.Key), string(event.Business), string(event.Customer),
		string(event.Member), string(event.Token))
	return cmd
}

func newEventTable(list []event.Event) table {
	t := table{head: []string{"AT", "TYPE", "BY", "SUBJECT", "SEQUENCE"}}
	for _, e := range list {
		t.rows = append(t.rows, []string{formatInstant(&e.At), string(e.Type), e.Actor.String(),
			string(e.Subject.Kind) + " " + e.Subject.ID.String(),
			strconv.Itoa(e.Sequence)})
	}
	return t
}
