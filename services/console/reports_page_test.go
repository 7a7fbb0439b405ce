package console_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

var (
	tableRow  = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	tableCell = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
)

// tableRows returns the rows of all tables of a page, with bars between the cells.
func tableRows(page string) []string {
	var rows []string
	for _, row := range tableRow.FindAllStringSubmatch(page, -1) {
		var cells []string
		for _, cell := range tableCell.FindAllStringSubmatch(row[1], -1) {
			cells = append(cells, html.UnescapeString(cell[1]))
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	return rows
}

// addSession publishes harbor and returns the session of a member with this role.
func addSession(t *testing.T, w *consoletest.Fixture, role access.Role) string {
	t.Helper()
	return w.AddSession(t, string(role)+"@reports.example", access.Member{BusinessID: publish(t, w), Role: role})
}

const reportsPage = "/business/harbor/reports"

// TestReportsPageMatchesAdminAPI shows that the page has the figures of the admin API and their sums.
func TestReportsPageMatchesAdminAPI(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	session := addSession(t, w, access.Viewer)
	const fortnight = "?from=2027-02-22&to=2027-03-07&by=week"
	page := getPage(t, w, reportsPage+fortnight+"&lang=en-GB", session)
	if page.Status != 200 {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	rows := tableRows(page.Body)
	var bookings, guests, missed, cancelled, came float64
	answered := w.Call(t, "GET", harb+"/reports/bookings"+fortnight, "")
	for _, row := range field(t, answered, "rows").([]any) {
		r := row.(map[string]any)
		bookings, guests, missed = bookings+r["bookings"].(float64), guests+r["guests"].(float64),
			missed+r["no_show"].(float64)
		cancelled, came = cancelled+r["cancelled"].(float64), came+r["completed"].(float64)
	}
	week := fmt.Sprintf(" | %v | %v | %v | %v", bookings, guests, missed, cancelled)
	share := fmt.Sprintf(" | %v | %v | %.0f%%", came, missed, 100*missed/(missed+came))
	for _, want := range []string{
		"22 Feb 2027 | 0 | 0 | 0 | 0", "1 Mar 2027" + week, "All" + week, "22 Feb 2027 | 0 | 0 | –",
		"1 Mar 2027" + share, "All" + share,
		"=cmd() | 3 | 75% | 0 | 1", "API | 1 | 25% | 1 | 0",
		"22 Feb 2027 | €0.00 | €24.00 | €24.00 | €0.00 | €0.00",
		"1 Mar 2027 | €80.00 | €0.00 | €80.00 | €40.00 | €10.00", "All | €80.00 | €24.00 | €104.00 | €40.00 | €10.00",
		"Left the team | 1 h 30 min | 2 h | 75%", "All | 1 h 30 min | 2 h | 75%", "Left the team | – | 75%",
	} {
		if !slices.Contains(rows, want) {
			t.Errorf("no row %q among\n%s", want, strings.Join(rows, "\n"))
		}
	}
	for name := range map[string]bool{"bookings": true, "revenue": true, "utilisation": true} {
		at := reportsPage + "/" + name + ".csv?by=week&from=2027-02-22&to=2027-03-07"
		if !strings.Contains(html.UnescapeString(page.Body), `"`+at+`"`) {
			t.Errorf("the page does not link to %s", at)
		}
		file, same := getPage(t, w, at, session), w.Call(t, "GET", harb+"/reports/"+name+fortnight, "", "Accept",
			"text/csv")
		if file.Status != 200 || file.Body != "\ufeff"+same.Body ||
			!strings.Contains(file.Header.Get("Content-Disposition"), name+"-2027-02-22-2027-03-07.csv") {
			t.Errorf("%s: %d %s, the admin API sends %s", name, file.Status, file.Body, same.Body)
		}
	}
}

func TestReportShowsUnknownFigures(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	session := addSession(t, w, access.Owner)
	const unknown = "This cannot be checked right now"
	for i, away := range []struct {
		stop  func()
		parts int
		shown []string
		gone  []string
	}{
		{func() {}, 0, []string{"Revenue in EUR", "No-shows", "€104.00", "75%"}, nil},
		{w.StopRental, 1, []string{"No-shows", "75%"}, []string{"Revenue in EUR", "€80.00"}},
		{w.StopAvailability, 2, []string{"No-shows"}, []string{"1 h 30 min"}},
		{w.StopBooking, 3, nil, []string{">4<"}},
	} {
		away.stop()
		page := getPage(t, w, reportsPage+"?from=2027-02-22&to=2027-03-07", session)
		if n := strings.Count(page.Body, unknown); page.Status != 200 || n != away.parts {
			t.Errorf("%d: %d, %d parts are unknown, want %d", i, page.Status, n, away.parts)
		}
		for _, text := range away.shown {
			if !strings.Contains(page.Body, text) {
				t.Errorf("%d: the page lacks %q", i, text)
			}
		}
		for _, text := range away.gone {
			if strings.Contains(page.Body, text) {
				t.Errorf("%d: the page has %q", i, text)
			}
		}
	}
}

func TestReportsRejectInvalidDates(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	session := addSession(t, w, access.Manager)
	for query, want := range map[string]string{
		"?from=2027-03-02&to=2027-03-01":        "The last day is before the first.",
		"?from=2024-01-01&to=2027-03-01":        "Choose three years at most",
		"?from=2027-02-29&to=2027-03-01":        "Check this field.",
		"?by=year":                              "Check this field.",
		"?from=2026-01-01&to=2027-03-01&by=day": "Too much for one page.",
	} {
		page := getPage(t, w, reportsPage+query, session)
		if page.Status != 400 || strings.Count(page.Body, "field-error") != 1 || !strings.Contains(page.Body, want) {
			t.Errorf("%s: %d, it does not say %q once", query, page.Status, want)
		}
	}
	if file := getPage(t, w, reportsPage+"/bookings.csv?from=2027-03-02&to=2027-03-01", session); file.Status != 400 {
		t.Errorf("a file of no dates: %d", file.Status)
	}
	for _, by := range []string{"", "?by=day", "?by=month", "?from=2020-01-01&to=2020-01-31"} {
		if page := getPage(t, w, reportsPage+by, session); page.Status != 200 || !strings.Contains(page.Body,
			"</html>") {
			t.Errorf("%s: %d", by, page.Status)
		}
	}
}
