package command

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

func (c *command) newCalendarsGroup() *cobra.Command {
	return newGroup("calendars", "Look after the addresses at which programs read a business's bookings as calendars",
		c.newCreateCalendarCommand(), c.newListCalendarsCommand(), c.newRevokeCalendarCommand())
}

func (c *command) newCreateCalendarCommand() *cobra.Command {
	var wanted struct {
		StaffID *string `json:"staff_id"`
		Shows   string  `json:"shows"`
	}
	var staff string
	cmd := c.newBusinessCommand("create SLUG", "Make a calendar and show its address, this once", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.newNameResolver(args[0]).resolve(cmd.Context(), kindMember, &staff); err != nil {
				return err
			}
			if staff != "" {
				wanted.StaffID = &staff
			}
			var calendar booking.Calendar
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "calendars"), wanted,
				&calendar); err != nil {
				return err
			}
			address := calendar.URL
			if address == "" {
				address = calendar.Token // a server without customers' pages gives the calendar no URL
			}
			return c.print(calendar, table{
				head: []string{"ADDRESS", "OF", "SHOWS", "ID"},
				rows: [][]string{{address, describeCalendar(calendar), calendar.Shows, calendar.ID.String()}},
			})
		})
	cmd.Example = `  slotmesh calendars create harbor
  slotmesh calendars create harbor --staff anna --shows names`
	cmd.Flags().StringVar(&staff, "staff", "",
		"key, name or id of the member whose bookings it has; left out, those of all")
	cmd.Flags().StringVar(&wanted.Shows, "shows", booking.ShowsTimes,
		"times: when bookings are; names: what and who they are, too")
	mustComplete(cmd, "shows", booking.ShowsTimes, booking.ShowsNames)
	return cmd
}

func (c *command) newListCalendarsCommand() *cobra.Command {
	cmd := c.newBusinessCommand("list SLUG", "List a business's calendars, revoked ones included", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			list, err := readPages[booking.Calendar](cmd.Context(), client, buildPath(args[0], "calendars"),
				"calendars",
				url.Values{})
			if err != nil {
				return err
			}
			t := table{head: []string{"ID", "OF", "SHOWS", "CREATED", "LAST USED", "REVOKED"}}
			for _, f := range list {
				t.rows = append(t.rows, []string{f.ID.String(), describeCalendar(f), f.Shows,
					formatInstant(&f.CreatedAt),
					formatInstant(f.LastUsedAt), formatInstant(f.RevokedAt)})
			}
			return c.print(booking.CalendarList{Calendars: list}, t)
		})
	cmd.Example = "  slotmesh calendars list harbor"
	return cmd
}

// describeCalendar returns the id of the member whose bookings a calendar contains, or "all" for a calendar of all
// members.
func describeCalendar(f booking.Calendar) string {
	if f.StaffID == nil {
		return "all"
	}
	return f.StaffID.String()
}

func (c *command) newRevokeCalendarCommand() *cobra.Command {
	cmd := c.newBusinessCommand("revoke SLUG ID", "End a calendar at once", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "calendars", args[1]), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "revoked": true}, "%s is revoked", args[1])
		})
	cmd.Example = "  slotmesh calendars revoke harbor 0190163d-8694-739b-aea5-966c26f8ad96"
	return cmd
}
