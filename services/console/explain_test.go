package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const (
	cutID  = "5d2f9f53-4c6b-5d06-b3e4-6f8c3a1f0f11"
	annaID = "9b2d7d06-5d0c-5f0c-8d3f-4a8a6b1f7c22"
)

func TestExplainUsesNewestOffer(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	w.Availability.SetExplanation(availability.Explanation{
		Computed: true, Timezone: "Europe/Lisbon", Reason: &availability.Reason{Rule: availability.RuleClosed,
			Message: "The business is closed then."},
		Staff: []availability.MemberExplanation{},
	})
	got := w.Call(t, "GET", harb+"/explain?service_id="+cutID+"&date=2027-03-02&time=10:15&staff_id="+annaID, "")
	if got.Status != 200 || !strings.Contains(got.Body, `"rule":"closed"`) {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	explainRequest := w.Availability.ListRequests()[0]
	q := explainRequest.Question
	if explainRequest.Slug != "harbor" || explainRequest.OfferVersion != 1 ||
		q.ServiceIDs[0] != uuid.MustParse(cutID) ||
		*q.StaffID != uuid.MustParse(annaID) ||
		q.Date.String() != "2027-03-02" || q.Time.String() != "10:15" {
		t.Errorf("the question to availability is %+v", explainRequest)
	}
	for query, want := range map[string]string{
		"":                    "service_id",
		"service_id=" + cutID: "date",
		"service_id=x":        "service_id",
		"service_id=" + cutID + "&date=2027-02-30&time=10:00":            "date",
		"service_id=" + cutID + "&date=2027-03-02&time=25:00":            "time",
		"service_id=" + cutID + "&date=2027-03-02":                       "time",
		"service_id=" + cutID + "&date=2027-03-02&time=10:00&staff_id=a": "staff_id",
	} {
		if got := w.Call(t, "GET", harb+"/explain?"+query, ""); got.Status != 400 || !strings.Contains(got.Body,
			`"error":"`+want) {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
		}
	}
	if got := w.Call(t, "GET", "/admin/businesses/nobody/explain?service_id="+cutID+"&date=2027-03-02&time=10:00",
		""); got.Status != 404 {
		t.Errorf("an unknown business: %d %s", got.Status, got.Body)
	}
}
