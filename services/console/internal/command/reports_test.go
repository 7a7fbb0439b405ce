package command_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestReportsAreTablesOrCSV(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	s.mustRun("apply", "-f", "-")
	for report, want := range map[string]string{
		"bookings": "DATE SOURCE BOOKINGS PENDING CONFIRMED COMPLETED NO-SHOW CANCELLED GUESTS 2027-03-01 =cmd() 3 0 0 2 0 1 5 2027-03-01 api 1 0 0 0 1 0 1",
		"revenue":  "DATE KIND SOLD TOTAL PAID REFUNDED CURRENCY 2027-02-22 reservation 1 24.00 0.00 0.00 EUR 2027-03-01 booking 2 80.00 40.00 10.00 EUR",
		"utilisation": "DATE STAFF BOOKED OPEN UTILISATION 2027-03-01 " + consoletest.FormerMember.String() +
			" 90 min 120 min 75.0 %",
	} {
		ask := []string{"reports", report, "harbor", "--from", "2027-03-01", "--to", "2027-03-31"}
		if got := strings.Join(strings.Fields(s.mustRun(ask...)), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if help := s.mustRun("reports", report, "--help"); strings.Contains(help, "location") != (report != "utilisation") {
			t.Errorf("%s by location: %s", report, help)
		}
		if got := s.mustRun(append(ask, "-o", "csv")...); !strings.HasPrefix(got, "date,") {
			t.Errorf("as CSV: %s", got)
		}
	}
}
