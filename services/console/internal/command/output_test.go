package command_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.mustRun("apply", "-f", writeFile(t, consoletest.BuildManifest("harbor", "Harbor")))
	s.mustRun("bookings", "book", "harbor", "--service", "cut", "--date", "2026-12-01", "--time", "09:30", "--customer",
		`=1+"2", Ada`)
	rows, err := csv.NewReader(strings.NewReader(s.mustRun("bookings", "list", "harbor", "-o", "csv"))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	want := []string{"2026-12-01", "09:30-10:15", "confirmed", `'=1+"2", Ada`}
	if diff := cmp.Diff(want, rows[1][1:5]); diff != "" {
		t.Error(diff)
	}
}

func TestContentsHavePrices(t *testing.T) {
	t.Parallel()
	s, _, _ := publishWorkshop(t)
	for label, want := range map[string][]string{
		"services": {`"price": 40`, `"currency": "EUR"`, `"duration_minutes": 45`},
		"rentals":  {`"price": 5`, `"currency": "EUR"`},
	} {
		got := s.mustRun(label, "list", "harbor", "-o", "json")
		for _, field := range want {
			if !strings.Contains(got, field) {
				t.Errorf("%s lacks %s: %s", label, field, got)
			}
		}
	}
}

func TestExplainNamesRequestedMember(t *testing.T) {
	t.Parallel()
	s, _, _ := publishWorkshop(t)
	requests := []string{"explain", "harbor", "--service", "cut", "--date", "2027-03-02", "--time", "10:15"}
	if got := s.mustRun(requests...); !strings.Contains(got, "\nanyone ") {
		t.Errorf("without --staff: %s", got)
	}
	if got := s.mustRun(append(requests, "--staff", "anna")...); strings.Contains(got, "anyone") ||
		!strings.Contains(got,
			"\nanna ") {
		t.Errorf("with --staff: %s", got)
	}
}

func TestUsageErrorsShowUsage(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	s.expectFailure(2, "Usage: slotmesh bookings book SLUG [flags]", "bookings", "book")
	for _, group := range []string{"Offer:", "Sales and customers:", "Programs:", "People and access:",
		"Installation:"} {
		if help := s.mustRun("--help"); !strings.Contains(help, "\n"+group) || strings.Contains(help,
			"Additional Commands:\n  a") {
			t.Errorf("the help lacks the group %s: %s", group, help)
		}
	}
}
