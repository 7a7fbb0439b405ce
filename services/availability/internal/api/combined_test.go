package api

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

const wednesday = "2027-03-03"

func TestSlotsListsClassSessionsWithRemainingSeats(t *testing.T) {
	t.Parallel()
	seats := func(taken int) func(*fakePeers) {
		return func(n *fakePeers) {
			n.seats = []booking.SeatsTaken{{SessionID: evening, StartsAt: parseInstant(wednesday + "T18:00"),
				Taken: taken}}
		}
	}
	const slot = `{"time": "18:00", "endTime": "19:00", "staffId": %q, "staffName": "Ben", "date": "2027-03-03", "dateOffset": 0,
		"remainingCapacity": 3, "classScheduleId": %q}`
	s := startService(t, seats(7))
	ask := func(s service, query ...string) reply {
		return s.get(t, "harbor/slots", append([]string{"date", wednesday, "service_id", yoga.String()}, query...)...)
	}
	listed := `{"computed": true, "timezone": "Europe/Lisbon", "slots": [` + fmt.Sprintf(slot, ben, evening) + `]}`
	none := `{"computed": true, "timezone": "Europe/Lisbon", "slots": []}`
	ask(s).expect(t, 200, listed)
	ask(s, "staff_id", ben.String()).expect(t, 200, listed)
	ask(s, "is_package", "true").expect(t, 200, listed)
	ask(s, "staff_id", anna.String()).expect(t, 200, none)
	ask(startService(t, seats(10))).expect(t, 200, none)
	ask(startService(t, seats(11))).expect(t, 200, none) // sold before the capacity was lowered
	s.get(t, "harbor/available-dates", "start", "2027-03-02", "end", "2027-03-11", "service_id", yoga.String()).
		expect(t, 200,
			`{"computed": true, "timezone": "Europe/Lisbon", "days": {"2027-03-02": 0, "2027-03-03": 1, "2027-03-04": 0,
			"2027-03-05": 0, "2027-03-06": 0, "2027-03-07": 0, "2027-03-08": 0, "2027-03-09": 0, "2027-03-10": 1, "2027-03-11": 0}}`)
}

func TestSlotsRequestsSeatsOnlyForClasses(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	for _, c := range []struct {
		service string
		seats   bool
	}{{yoga.String(), true}, {haircut.String(), false}} {
		s.get(t, "harbor/slots", "date", wednesday, "service_id", c.service)
		if s.requestedSeats != c.seats {
			t.Errorf("seats asked for: %t, want %t", s.requestedSeats, c.seats)
		}
	}
}

func TestSlotsUsesVariantDuration(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String(), "staff_id", ben.String(), "variants",
		haircut.String()+":"+long.String()).
		expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "slots": [
		{"time": "09:00", "endTime": "11:00", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0},
		{"time": "10:00", "endTime": "12:00", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0}]}`)
}

func TestSlotsListsPackageStartsOnce(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(anna, 0, "2027-03-01T09:00", "2027-03-01T10:00")}
	})
	got := s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String(), "is_package", "true")
	got.expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "slots": [
		{"time": "09:00", "endTime": "10:00", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0},
		{"time": "10:00", "endTime": "11:00", "staffId": "`+anna.String()+`", "staffName": "Anna \"A\" <Ω>", "date": "2027-03-01", "dateOffset": 0},
		{"time": "11:00", "endTime": "12:00", "staffId": "`+anna.String()+`", "staffName": "Anna \"A\" <Ω>", "date": "2027-03-01", "dateOffset": 0}]}`)
}

// TestSlotsAssignsPackageStaffPerService has a package of a haircut and a colouring, which only Anna performs. Ben can
// perform the haircut while Anna is busy.
func TestSlotsAssignsPackageStaffPerService(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(anna, 0, "2027-03-01T09:00", "2027-03-01T10:00")}
	})
	ask := func(mode string) reply {
		return s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String()+","+colour.String(),
			"is_package",
			"true", "staffing_mode", mode)
	}
	annaAtTen := `{"time": "10:00", "endTime": "11:30", "staffId": "` + anna.String() +
		`", "staffName": "Anna \"A\" <Ω>", "date": "2027-03-01", "dateOffset": 0}`
	ask("any").expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "slots": [`+annaAtTen+`]}`)
	ask("per_service").expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "slots": [
		{"time": "09:00", "endTime": "10:30", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0},
		`+annaAtTen+`]}`)
}

// getAs sends a request with another client address for each number, so that no rate limit applies.
func (s service) getAs(t *testing.T, address int, path string, target any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.public+"/api/public/harbor/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("10.0.%d.%d", address/250, address%250+1))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	r := readReply(t, answer)
	if r.status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	r.decode(t, target)
}

func (s service) getDays(t *testing.T, address int, query string) map[string]int {
	t.Helper()
	var body struct{ Days map[string]int }
	s.getAs(t, address, "available-dates?"+query, &body)
	return body.Days
}

func (s service) countSlots(t *testing.T, address int, query string) int {
	t.Helper()
	var body struct{ Slots []any }
	s.getAs(t, address, "slots?"+query, &body)
	return len(body.Slots)
}
