package command_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestExplainSaysWhyInARowForEachMember(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := shellAt(t, w)
	s.in = consoletest.Manifest("harbor", "Harbor")
	s.must("apply", "-f", "-")
	reason := availability.Reason{Rule: availability.RuleClosed, Whose: availability.OfStaff, StaffName: "Anna"}
	reason.Explain()
	w.Availability.Answer(availability.Explanation{
		Computed: true, Bookable: true, Staff: []availability.MemberExplanation{
			{StaffID: uuid.New(), Name: "Anna", Reason: &reason}, {StaffID: uuid.New(), Name: "Ben", Bookable: true},
		},
	})
	ask := []string{"explain", "harbor", "--service", uuid.NewString(), "--date", "2027-03-02", "--time", "10:15"}
	got := strings.Join(strings.Fields(s.must(ask...)), " ")
	if want := "STAFF BOOKABLE RULE WHY anyone yes - - Anna no closed Anna does not work then. Ben yes - -"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.Availability.Answer(availability.Explanation{Staff: []availability.MemberExplanation{}})
	if got := s.must(ask...); !strings.Contains(got, "unknown") {
		t.Errorf("what is not known: %s", got)
	}
}
