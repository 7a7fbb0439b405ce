package reportcsv

import (
	"bytes"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/report"
)

func TestEscapeFormulaPreventsFormulas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=1+1", "+351", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\uff1d1",
		"\uff0b1", "\uff0d1", "\uff20SUM(A1)",
		"\tplain", "\rplain",
	} {
		if got := EscapeFormula(text); got != "'"+text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	for _, text := range []string{"", "Ana", "1+1", "a=b", "ana@example.com", " Ana", "'=1", "田中"} {
		if got := EscapeFormula(text); got != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}

func TestReportByLocationHasColumnsWithoutRows(t *testing.T) {
	t.Parallel()
	for by, want := range map[report.By]bool{report.Week: false, report.Location: true} {
		for _, file := range [][]byte{FormatBookings(by, nil), FormatRevenue(by, nil)} {
			if bytes.Contains(file, []byte(",location_id,location_name")) != want {
				t.Errorf("by %s: %s", by, file)
			}
		}
	}
}
