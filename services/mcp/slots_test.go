package mcp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const slotsPath = "GET /internal/api/public/harbor/slots"

func TestFindSlotsListsSlotFields(t *testing.T) {
	t.Parallel()
	const sessionID = "c0ffee00-0c5e-4d5b-9a55-6f0f4a1f7d10"
	n := newPeers()
	n.answers[slotsPath] = json.RawMessage(`{"slots":[
		{"time":"23:00","endTime":"24:00","staffId":"` + annaID + `","staffName":"Anna","date":"2027-03-01","dateOffset":0,"remainingCapacity":4,"classScheduleId":"` + sessionID + `"},
		{"time":"00:30","endTime":"01:30","staffId":null,"staffName":null,"date":"2027-03-02","dateOffset":1}],
		"computed":true,"timezone":"Europe/Lisbon"}`)
	got := call(t, startServer(t, n), "read", "find_slots", map[string]any{"service_ids": []string{cutID},
		"date": "2027-03-01"})
	want := map[string]any{
		"timezone": "Europe/Lisbon", "online_bookings_paused": false, "computed": true, "days": []any{}, "total": 2.0,
		"next_offset": nil,
		"slots": []any{
			map[string]any{"date": "2027-03-01", "time": "23:00", "end_time": "24:00", "staff_id": annaID,
				"staff_name": "Anna", "remaining_capacity": 4.0, "class_schedule_id": sessionID},
			map[string]any{"date": "2027-03-02", "time": "00:30", "end_time": "01:30", "staff_id": nil,
				"staff_name": nil},
		},
	}
	if diff := cmp.Diff(want, got.StructuredContent); got.IsError || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const text = "2 free starts on Mon 2027-03-01 (Europe/Lisbon). Next: book_appointment with date, time and class_schedule_id.\nMon 2027-03-01 23:00–24:00 with Anna (staff_id " +
		annaID + "), 4 places left, class_schedule_id " + sessionID +
		"\nafter midnight, with date Tue 2027-03-02, at 00:30–01:30"
	if got.Content[0].Text != text {
		t.Errorf("got %q", got.Content[0].Text)
	}
}

func TestFindSlotsReportsUnreadableAnswer(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[slotsPath] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"computed":`)
	})
	got := call(t, startServer(t, n), "read", "find_slots", map[string]any{"service_ids": []string{cutID},
		"date": "2027-03-01"})
	if !got.IsError || got.StructuredContent["messageCode"] != "service_unavailable" {
		t.Errorf("%+v", got)
	}
}
