package command

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

func (c *command) newReportsGroup() *cobra.Command {
	return newGroup("reports", "Count and add up what was booked, by business time",
		newReportCommand(c, "bookings", "Bookings by the date of their start, source and status",
			newBookingsReportTable, report.Location, report.Service, report.Staff, report.CustomerKind),
		newReportCommand(c, "revenue", "What was sold, paid online and refunded, by currency", newRevenueReportTable,
			report.Location, report.Service, report.Staff, report.CustomerKind),
		newReportCommand(c, "utilisation", "How much of each member's working time is booked",
			newUtilisationReportTable, report.Staff))
}

// newReportCommand returns a command that prints a report. If the output format is CSV, the command prints the server's
// CSV unchanged. The argument `others` are the groupings of the report beside those by time.
func newReportCommand[Row any](c *command, name, short string, show func(report.By, []Row) table,
	others ...report.By) *cobra.Command {
	var from, to, by string
	cmd := c.newBusinessCommand(name+" SLUG", short, 1, func(cmd *cobra.Command, args []string, client *client) error {
		path := buildPath(args[0], "reports", name) + "?" + url.Values{"from": {from}, "to": {to}, "by": {by}}.Encode()
		if c.output == csvFormat {
			text, err := client.do(cmd.Context(), adminapi.Request{Method: http.MethodGet, Path: path,
				Header: map[string]string{"Accept": "text/csv"}})
			if err != nil {
				return err
			}
			return c.write(text)
		}
		var answer report.Report[Row]
		if err := client.call(cmd.Context(), http.MethodGet, path, nil, &answer); err != nil {
			return err
		}
		return c.print(answer, show(report.By(by), answer.Rows))
	})
	cmd.Example = fmt.Sprintf("  slotmesh reports %s harbor --from 2027-01-01 --to 2027-12-31 --by month\n"+
		"  slotmesh reports %s harbor --from 2027-03-01 --to 2027-03-31 --by day -o csv > march.csv", name, name)
	cmd.Flags().StringVar(&from, "from", "", "the first date, YYYY-MM-DD")
	cmd.Flags().StringVar(&to, "to", "", "the last date, included")
	choices := []string{string(report.Day), string(report.Week), string(report.Month)}
	for _, other := range others {
		choices = append(choices, string(other))
	}
	last := len(choices) - 1
	cmd.Flags().StringVar(&by, "by", string(report.Week),
		"add up by "+strings.Join(choices[:last], ", ")+" or "+choices[last])
	mustComplete(cmd, "by", choices...)
	return mustRequire(cmd, "from", "to")
}

// addGroups adds a column with the groups to a report that is not by time.
func addGroups[Row any](by report.By, t table, rows []Row, group func(Row) report.Group) table {
	if by.IsTime() {
		return t
	}
	t.head = append(t.head, strings.ToUpper(strings.ReplaceAll(string(by), "_", " ")))
	for i, r := range rows {
		t.rows[i] = append(t.rows[i], cmp.Or(group(r).Name(), "-"))
	}
	return t
}

func formatNumber(n int64) string { return strconv.FormatInt(n, 10) }

func newBookingsReportTable(by report.By, rows []booking.BookingsRow) table {
	t := table{head: []string{"DATE", "SOURCE", "BOOKINGS", "PENDING", "CONFIRMED", "COMPLETED", "NO-SHOW", "CANCELLED",
		"GUESTS"}}
	for _, r := range rows {
		t.rows = append(t.rows, []string{r.Date.String(), r.Source, formatNumber(r.Bookings), formatNumber(r.Pending),
			formatNumber(r.Confirmed),
			formatNumber(r.Completed), formatNumber(r.NoShow), formatNumber(r.Cancelled), formatNumber(r.Guests)})
	}
	return addGroups(by, t, rows, func(r booking.BookingsRow) report.Group { return r.Group })
}

func newRevenueReportTable(by report.By, rows []report.RevenueRow) table {
	t := table{head: []string{"DATE", "KIND", "SOLD", "TOTAL", "PAID", "REFUNDED", "CURRENCY"}}
	for _, r := range rows {
		t.rows = append(t.rows, []string{r.Date.String(), r.Kind, formatNumber(r.Sold), r.Total.String(),
			r.Paid.String(),
			r.Refunded.String(), r.Currency})
	}
	return addGroups(by, t, rows, func(r report.RevenueRow) report.Group { return r.Group })
}

func newUtilisationReportTable(_ report.By, rows []report.UtilisationRow) table {
	t := table{head: []string{"DATE", "STAFF", "BOOKED", "OPEN", "UTILISATION"}}
	for _, r := range rows {
		share := "-"
		if r.Utilisation != nil {
			share = strconv.FormatFloat(100**r.Utilisation, 'f', 1, 64) + " %"
		}
		name := r.StaffName
		if name == "" {
			name = r.StaffID.String()
		}
		t.rows = append(t.rows, []string{r.Date.String(), name, formatNumber(r.BookedMinutes) + " min",
			formatNumber(r.OpenMinutes) + " min", share})
	}
	return t
}
