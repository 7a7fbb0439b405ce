package command_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestListsArePrintedAsCSVWithoutFormulas(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := shellAt(t, w)
	s.must("apply", "-f", file(t, consoletest.Manifest("harbor", "Harbor")))
	s.must("bookings", "book", "harbor", "--service", "cut", "--date", "2026-12-01", "--time", "09:30", "--customer",
		`=1+"2", Ada`)
	rows, err := csv.NewReader(strings.NewReader(s.must("bookings", "list", "harbor", "-o", "csv"))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	want := []string{"2026-12-01", "09:30-10:15", "confirmed", `'=1+"2", Ada`}
	if diff := cmp.Diff(want, rows[1][1:5]); diff != "" {
		t.Error(diff)
	}
}

func TestServicesAndRentalsAreListedWithTheirPrices(t *testing.T) {
	t.Parallel()
	s, _, _ := workshopAt(t)
	for what, want := range map[string][]string{
		"services": {`"price": 40`, `"currency": "EUR"`, `"duration_minutes": 45`},
		"rentals":  {`"price": 5`, `"currency": "EUR"`},
	} {
		got := s.must(what, "list", "harbor", "-o", "json")
		for _, field := range want {
			if !strings.Contains(got, field) {
				t.Errorf("%s lacks %s: %s", what, field, got)
			}
		}
	}
}

func TestExplainNamesTheMemberThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s, _, _ := workshopAt(t)
	asked := []string{"explain", "harbor", "--service", "cut", "--date", "2027-03-02", "--time", "10:15"}
	if got := s.must(asked...); !strings.Contains(got, "\nanyone ") {
		t.Errorf("without --staff: %s", got)
	}
	if got := s.must(append(asked, "--staff", "anna")...); strings.Contains(got, "anyone") || !strings.Contains(got,
		"\nanna ") {
		t.Errorf("with --staff: %s", got)
	}
}

func TestUsageErrorsShowHowTheCommandIsCalled(t *testing.T) {
	t.Parallel()
	s := shellAt(t, consoletest.Start(t))
	s.fails(2, "Usage: slotmesh bookings book SLUG [flags]", "bookings", "book")
	for _, group := range []string{"Offer:", "Sales and customers:", "Programs:", "People and access:",
		"Installation:"} {
		if help := s.must("--help"); !strings.Contains(help, "\n"+group) || strings.Contains(help,
			"Additional Commands:\n  a") {
			t.Errorf("the help lacks the group %s: %s", group, help)
		}
	}
}
