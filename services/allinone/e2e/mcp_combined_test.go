package e2e

import (
	"slices"
	"testing"
)

// slotSearch is an answer of the tool find_slots.
type slotSearch struct {
	Slots []struct {
		Date, Time        string
		StaffID           *string `json:"staff_id"`
		StaffName         *string `json:"staff_name"`
		RemainingCapacity *int    `json:"remaining_capacity"`
		ClassScheduleID   *string `json:"class_schedule_id"`
	}
	Days []struct {
		Date  string
		Count int
	}
	Total int
}

func TestAgentBooksClassSeats(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "agent-class", buildStudio("agent-class"))
	a, spinning := w.connectAgent(t, w.createKey(t, "agent-class", "all")),
		w.idsByName(t, "agent-class", "services")["Spinning"]
	var before, after slotSearch
	asked := map[string]any{"service_ids": []string{spinning}, "date": "2027-03-02"}
	a.callAccepted(t, "find_slots", asked, &before)
	if len(before.Slots) != 2 || *before.Slots[0].RemainingCapacity != 2 || *before.Slots[1].RemainingCapacity != 1 {
		t.Fatalf("the sessions are %+v", before.Slots)
	}
	ride := newOrder(spinning, "2027-03-02", "07:00").withField("class_schedule_id",
		*before.Slots[0].ClassScheduleID).withField("party_size", 2)
	a.callAccepted(t, "book_appointment", ride, nil)
	other := a.callRefused(t, "book_appointment", ride, "slot_unavailable")
	if slots, _ := other["other_slots"].([]any); len(slots) != 1 {
		t.Errorf("other sessions: %v", other["other_slots"])
	}
	a.callAccepted(t, "find_slots", asked, &after)
	if len(after.Slots) != 1 || *after.Slots[0].ClassScheduleID != *before.Slots[1].ClassScheduleID {
		t.Errorf("after two seats of the first session went: %+v", after.Slots)
	}
}

// findTimes returns the starts that find_slots returns.
func (a agent) findTimes(t *testing.T, asked order) []string {
	t.Helper()
	var f slotSearch
	a.callAccepted(t, "find_slots", asked, &f)
	var got []string
	for _, s := range f.Slots {
		got = append(got, s.Time)
	}
	return got
}

func TestAgentBooksPackageWithVariant(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "agent-package", buildSpa("agent-package"))
	a := w.connectAgent(t, w.createKey(t, "agent-package", "all"))
	var offered struct {
		Services []struct {
			ID, Name string
			Variants []struct {
				ID       string
				Duration int `json:"duration_minutes"`
			}
		}
	}
	a.callAccepted(t, "list_services", nil, &offered)
	wash, cut := offered.Services[0], offered.Services[1]
	if len(wash.Variants) != 0 || len(cut.Variants) != 1 || cut.Variants[0].Duration != 60 {
		t.Fatalf("got %+v", offered)
	}
	asked := order{
		"service_ids": []string{wash.ID, cut.ID}, "is_package": true, "staffing_mode": "per_service",
		"variants": []string{cut.ID + ":" + cut.Variants[0].ID},
	}
	// The business closes at 12:00, and the package takes 30 and then 60 minutes.
	if got := a.findTimes(t, asked.withField("date", "2027-03-01")); !slices.Equal(got,
		[]string{"09:00", "09:30", "10:00", "10:30"}) {
		t.Errorf("the package is found at %v", got)
	}
	var window slotSearch
	a.callAccepted(t, "find_slots", asked.withField("start_date", "2027-03-01").withField("end_date", "2027-03-02"),
		&window)
	if len(window.Days) != 2 || window.Days[0].Count != 4 || window.Total != 4 {
		t.Errorf("the window says %+v", window)
	}
	var one slotSearch
	a.callAccepted(t, "find_slots", asked.withField("date", "2027-03-01").withField("staffing_mode", "one_provider"),
		&one)
	if len(one.Slots) != 0 {
		t.Errorf("no staff member performs both services, but the slots are %+v", one.Slots)
	}

	o := asked.withField("date", "2027-03-01").withField("time", "09:30").withField("customer_name",
		"Ada Example").withField("customer_email", "ada@example.com")
	var created struct {
		Booking struct {
			End string `json:"end_time"`
		}
	}
	a.callAccepted(t, "book_appointment", o, &created)
	if created.Booking.End != "11:00:00" {
		t.Errorf("booked until %s", created.Booking.End)
	}
	// Ben is now busy from 10:00 to 11:00.
	if got := a.findTimes(t, asked.withField("date", "2027-03-01")); !slices.Equal(got, []string{"10:30"}) {
		t.Errorf("after the booking, the package is found at %v", got)
	}
	other := a.callRefused(t, "book_appointment", o, "no_staff_available")
	// If the search for other starts ignored the package's arguments, it would find none.
	if starts, _ := other["other_slots"].([]any); len(starts) != 1 {
		t.Errorf("other starts of the package: %v", other)
	}
	a.callRefused(t, "find_slots", asked.withField("date", "2027-03-01").withField("staffing_mode", "any"),
		"invalid_parameter")
	a.callRefused(t, "find_slots", asked.withField("date", "2027-03-01").withField("variants", "none"),
		"invalid_parameter")
	a.callRefused(t, "find_slots", asked.withField("date", "2027-03-01").withField("is_package", "yes"),
		"invalid_parameter")
}
