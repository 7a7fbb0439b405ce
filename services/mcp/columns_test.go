package mcp_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
)

const slotsPath = "GET /internal/api/public/harbor/slots"

// Replicas of availability that write no columns yet are understood as well: an agent sees no difference.
func TestSlotsAreShownTheSameFromColumnsAndFromThePublicAnswer(t *testing.T) {
	t.Parallel()
	const sessionID = "c0ffee00-0c5e-4d5b-9a55-6f0f4a1f7d10"
	const public = `{"slots":[
		{"time":"23:00","endTime":"24:00","staffId":"` + annaID + `","staffName":"Anna","date":"2027-03-01","dateOffset":0,"remainingCapacity":4,"classScheduleId":"` + sessionID + `"},
		{"time":"00:30","endTime":"01:30","staffId":null,"staffName":null,"date":"2027-03-02","dateOffset":1,"remainingCapacity":1,"classScheduleId":"` + sessionID + `"}],
		"computed":true,"timezone":"Europe/Lisbon"}`
	const columns = `{"computed":true,"timezone":"Europe/Lisbon","date":"2027-03-01","staff":[{"id":"` + annaID + `","name":"Anna"}],"sessions":["` + sessionID + `"],
		"starts":[1380,1470],"ends":[1440,90],"members":[0,-1],"session_of":[0,0],"remaining":[4,1]}`
	shown := func(answer func(w http.ResponseWriter, asked string)) any {
		n := standIn()
		n.answers[slotsPath] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r.Header.Get("Accept")) })
		got := call(t, start(t, n), "read", "find_slots", map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01"})
		if got.IsError || got.StructuredContent["total"] != 2.0 {
			t.Fatalf("%+v", got)
		}
		return got
	}
	old := shown(func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, public)
	})
	now := shown(func(w http.ResponseWriter, asked string) {
		w.Header().Set("Content-Type", asked)
		_, _ = io.WriteString(w, columns)
	})
	if diff := cmp.Diff(old, now); diff != "" {
		t.Errorf("(-public +columns):\n%s", diff)
	}
}

func TestColumnsThatCannotBeReadAreAServiceThatIsAway(t *testing.T) {
	t.Parallel()
	for what, body := range map[string]string{
		"no JSON":          `{"computed":`,
		"a member unknown": `{"computed":true,"staff":[],"starts":[540],"ends":[600],"members":[0]}`,
	} {
		n := standIn()
		n.answers[slotsPath] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", availability.SlotsType)
			_, _ = io.WriteString(w, body)
		})
		got := call(t, start(t, n), "read", "find_slots", map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01"})
		if !got.IsError || got.StructuredContent["messageCode"] != "service_unavailable" {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
