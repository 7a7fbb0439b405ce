package command_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestExplainHasRowPerMember(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	s.mustRun("apply", "-f", "-")
	reason := availability.Reason{Rule: availability.RuleClosed, Whose: availability.OfStaff, StaffName: "Anna"}
	reason.Explain()
	w.Availability.SetExplanation(availability.Explanation{
		Computed: true, Bookable: true, Staff: []availability.MemberExplanation{
			{StaffID: uuid.New(), Name: "Anna", Reason: &reason}, {StaffID: uuid.New(), Name: "Ben", Bookable: true},
		},
	})
	ask := []string{"explain", "harbor", "--service", uuid.NewString(), "--date", "2027-03-02", "--time", "10:15"}
	got := strings.Join(strings.Fields(s.mustRun(ask...)), " ")
	if want := "STAFF BOOKABLE RULE WHY anyone yes - - Anna no closed Anna does not work then. Ben yes - -"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.Availability.SetExplanation(availability.Explanation{Staff: []availability.MemberExplanation{}})
	if got := s.mustRun(ask...); !strings.Contains(got, "unknown") {
		t.Errorf("an unknown answer: %s", got)
	}
}
