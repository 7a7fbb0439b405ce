package command

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
)

func (c *command) newExplainCommand() *cobra.Command {
	var service, date, start, staff string
	cmd := c.newBusinessCommand("explain SLUG", "Say why a start can or cannot be booked, in total and by each member",
		1,
		func(cmd *cobra.Command, args []string, client *client) error {
			requested := staff
			called := client.newNameResolver(args[0])
			if err := errors.Join(called.resolveServices(cmd.Context(), &service),
				called.resolve(cmd.Context(), kindMember, &staff)); err != nil {
				return err
			}
			query := url.Values{"service_id": {service}, "date": {date}, "time": {start}}
			if staff != "" {
				query.Set("staff_id", staff)
			}
			var explanation availability.Explanation
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], "explain")+"?"+query.Encode(), nil,
				&explanation); err != nil {
				return err
			}
			return c.print(explanation, newExplanationTable(explanation, cmp.Or(requested, "anyone")))
		})
	cmd.Example = "  slotmesh explain harbor --service cut --date 2027-03-01 --time 10:15"
	cmd.Flags().StringVar(&service, "service", "",
		"what is to be booked: a service's key, name or id, or several parted by commas")
	cmd.Flags().StringVar(&date, "date", "", "the date of the start, YYYY-MM-DD")
	cmd.Flags().StringVar(&start, "time", "", "the time of the start, HH:MM")
	cmd.Flags().StringVar(&staff, "staff", "", "by this member, by key, name or id; else by anybody")
	return mustRequire(cmd, "service", "date", "time")
}

// newExplanationTable returns the explanation of a start as a table. The first row is about the start as a whole, and
// each further row is about one member. The argument `person` is the text in the first cell of the first row.
func newExplanationTable(e availability.Explanation, person string) table {
	t := table{head: []string{"STAFF", "BOOKABLE", "RULE", "WHY"}}
	row := func(staff string, bookable bool, reason *availability.Reason) {
		cells := []string{staff, "unknown", "-", "It cannot be told now: what is taken cannot be read."}
		switch {
		case bookable:
			cells = []string{staff, "yes", "-", "-"}
		case reason != nil:
			cells = []string{staff, "no", reason.Rule, reason.Message}
		}
		t.rows = append(t.rows, cells)
	}
	row(person, e.Bookable, e.Reason)
	for _, m := range e.Staff {
		row(m.Name, m.Bookable, m.Reason)
	}
	return t
}
