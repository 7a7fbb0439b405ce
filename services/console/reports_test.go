package console_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestReportsAreJSONOrCSV(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	const march = "?from=2027-03-01&to=2027-03-31&by=month"
	for name, want := range map[string]string{
		"bookings": "date,source,bookings,pending,confirmed,completed,no_show,cancelled,guests\r\n" +
			"2027-03-01,'=cmd(),3,0,0,2,0,1,5\r\n2027-03-01,api,1,0,0,0,1,0,1\r\n",
		"revenue": "date,kind,currency,sold,total,paid,refunded\r\n" +
			"2027-02-22,reservation,EUR,1,24.00,0.00,0.00\r\n2027-03-01,booking,EUR,2,80.00,40.00,10.00\r\n",
		"utilisation": "date,staff_id,staff_name,booked_minutes,open_minutes,utilisation\r\n" +
			"2027-03-01," + consoletest.FormerMember.String() + ",,90,120,0.7500\r\n",
	} {
		got := w.Call(t, "GET", harb+"/reports/"+name+march, "", "Accept", "text/csv")
		if got.Status != 200 || got.Body != want || got.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%s: %d %s\n%q\nwant\n%q", name, got.Status, got.Header.Get("Content-Type"), got.Body, want)
		}
		if d := got.Header.Get("Content-Disposition"); d != `attachment; filename="harbor-`+name+
			`-2027-03-01-2027-03-31.csv"` {
			t.Errorf("the file name of %s is %s", name, d)
		}
		asJSON := w.Call(t, "GET", harb+"/reports/"+name+march, "")
		if rows := field(t, asJSON, "rows").([]any); asJSON.Status != 200 || len(rows) != strings.Count(want, "\n")-1 {
			t.Errorf("%s: %d %s", name, asJSON.Status, asJSON.Body)
		}
		if field(t, asJSON, "timezone") != "Europe/Lisbon" || field(t, asJSON, "by") != "month" || field(t, asJSON,
			"from") != "2027-03-01" {
			t.Errorf("%s lacks its time zone, period or dates: %s", name, asJSON.Body)
		}
	}
	for _, wrong := range []string{"", "?from=2027-03-01", "?from=2027-03-02&to=2027-03-01", march + "&by=x",
		"?from=2020-01-01&to=2027-01-01"} {
		if got := w.Call(t, "GET", harb+"/reports/bookings"+wrong, ""); got.Status != 400 {
			t.Errorf("%s: %d %s", wrong, got.Status, got.Body)
		}
	}
	if got := w.Call(t, "GET", harb+"/reports/everything"+march, ""); got.Status != 404 {
		t.Errorf("an unknown report: %d %s", got.Status, got.Body)
	}
}
