package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// planAnswer is the part of a plan that the test reads.
type planAnswer struct {
	Changes []struct{ Path string }
	Outside struct {
		Count, Already int
		Bookings       []struct {
			Booking struct {
				StartTime string `json:"start_time"`
			}
			Reason  struct{ Rule, Message string }
			Already bool
		}
	}
}

// TestDiffListsAffectedBookings books a morning and requests the effects of shorter hours. The answer lists the two
// bookings outside of the shorter hours. After the shorter hours are published, the answer counts both bookings as
// affected already.
func TestDiffListsAffectedBookings(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	offer := buildSalon("planned", 1)
	w.publish(t, "planned", offer)
	key, cut := w.createKey(t, "planned", "write"), w.idsByName(t, "planned", "services")["Cut"]
	for _, clock := range []string{"09:00", "10:00", "11:00"} {
		w.book(t, "planned", key, newOrder(cut, "2027-03-02", clock)).checkStatus(t, http.StatusCreated, "")
	}
	plan := func(text string) planAnswer {
		t.Helper()
		var p planAnswer
		header := http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Content-Type": {"application/yaml"}}
		w.do(t, http.MethodPost, w.AdminURL+"/admin/businesses/planned/diff", []byte(text), header).decode(t,
			http.StatusOK, &p)
		return p
	}
	if p := plan(offer); len(p.Changes) > 0 || p.Outside.Count > 0 {
		t.Errorf("the plan of the published manifest has changes: %+v", p)
	}
	closed := offer + "overrides: [{date: 2027-03-02, hours: [\"10:00-11:30\"]}]\n"
	p := plan(closed)
	var outside []string
	for _, b := range p.Outside.Bookings {
		outside = append(outside, b.Booking.StartTime+" "+b.Reason.Rule)
	}
	slices.Sort(outside)
	if strings.Join(outside, ", ") != "09:00:00 override, 11:00:00 override" || p.Outside.Already != 0 ||
		len(p.Changes) == 0 {
		t.Errorf("the plan with shorter hours: %+v", p)
	}
	w.publish(t, "planned", closed)
	if p := plan(closed); p.Outside.Count != 2 || p.Outside.Already != 2 {
		t.Errorf("the plan after the hours are published: %+v", p.Outside)
	}
}
