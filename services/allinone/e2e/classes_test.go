package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// buildStudio returns the manifest of a business with classes. Ben gives yoga on Mondays at 18:00, with ten seats, and
// he is the only member who performs Cut. Spinning has two sessions at the same time, without a teacher.
func buildStudio(slug string) string {
	return `apiVersion: slotmesh/v1
kind: Business
slug: ` + slug + `
name: Studio
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en]
bookings: {slot_interval_minutes: 30, min_notice_minutes: 0, advance_days: 365}
hours: {mon: ["16:00-20:00"], tue: ["16:00-20:00"]}
overrides: [{date: 2027-03-15, hours: []}]
staff:
  - {key: anna, name: Anna, order: 1}
  - {key: ben, name: Ben, order: 2}
services:
  - {key: cut, name: Cut, duration_minutes: 30, price: 40.00, staff: [ben], order: 1}
  - key: yoga
    name: Yoga
    duration_minutes: 60
    buffer_after_minutes: 15
    price: 12.50
    order: 2
    classes: [{key: monday, weekday: mon, time: "18:00", capacity: 10, staff: ben}]
  - key: spinning
    name: Spinning
    duration_minutes: 45
    order: 3
    classes:
      - {key: a-room, date: 2027-03-02, time: "07:00", capacity: 2}
      - {key: b-room, date: 2027-03-02, time: "07:00", capacity: 1}
`
}

// seat is a slot of a class.
type seat struct {
	Time, EndTime     string
	StaffName         *string
	RemainingCapacity *int
	ClassScheduleID   string
}

func (w *platform) listSeats(t *testing.T, slug, date, service string) []seat {
	t.Helper()
	var s struct {
		Slots    []seat
		Computed bool
	}
	w.get(t, slug+"/slots?date="+date+"&service_id="+service).decode(t, http.StatusOK, &s)
	if !s.Computed {
		t.Fatalf("the classes of %s on %s were not computed", slug, date)
	}
	return s.Slots
}

// countRemainingSeats returns the start and the free seats of each session, such as "18:00 7".
func (w *platform) countRemainingSeats(t *testing.T, slug, date, service string) string {
	t.Helper()
	var values []string
	for _, s := range w.listSeats(t, slug, date, service) {
		values = append(values, fmt.Sprintf("%s %d", s.Time, *s.RemainingCapacity))
	}
	return strings.Join(values, ", ")
}

// countDays returns the number of starts that /available-dates counts on a date.
func (w *platform) countDays(t *testing.T, slug, date, query string) int {
	t.Helper()
	var d struct{ Days map[string]int }
	w.get(t, slug+"/available-dates?start="+date+"&end="+date+"&"+query).decode(t, http.StatusOK, &d)
	return d.Days[date]
}

func TestClassSellsSeatsUpToCapacity(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "class", buildStudio("class"))
	services, key := w.idsByName(t, "class", "services"), w.createKey(t, "class", "all")
	yoga, monday := services["Yoga"], "2027-03-01"
	expect := func(want string) {
		t.Helper()
		if got := w.countRemainingSeats(t, "class", monday, yoga); got != want {
			t.Errorf("the session shows %q, want %q", got, want)
		}
		if n := w.countDays(t, "class", monday, "service_id="+yoga); n != min(1, len(want)) {
			t.Errorf("/available-dates counts %d where /slots shows %q", n, want)
		}
	}
	party := func(n int) order { return newOrder(yoga, monday, "18:00").withField("party_size", n) }
	expect("18:00 10")
	var first struct {
		Booking struct {
			ID        string
			StartTime string `json:"start_time"`
			EndTime   string `json:"end_time"`
			StaffName string `json:"staff_name"`
			Session   string `json:"class_schedule_id"`
			Total     float64
		}
	}
	w.book(t, "class", key, party(4)).decode(t, http.StatusCreated, &first)
	if b := first.Booking; b.StartTime != "18:00:00" || b.EndTime != "19:00:00" || b.StaffName != "Ben" ||
		b.Total != 50 ||
		b.Session != w.listSeats(t, "class", monday, yoga)[0].ClassScheduleID {
		t.Errorf("the booking is %+v", b)
	}
	expect("18:00 6")
	w.book(t, "class", key, party(7)).checkStatus(t, http.StatusConflict, "slot_unavailable")
	w.book(t, "class", key, party(6)).checkStatus(t, http.StatusCreated, "")
	expect("") // a full session is not listed
	w.book(t, "class", key, party(1)).checkStatus(t, http.StatusConflict, "slot_unavailable")
	w.callAdmin(t, http.MethodPost, "businesses/class/bookings/"+first.Booking.ID+"/cancel", nil).checkStatus(t,
		http.StatusOK, "")
	expect("18:00 4")
	// The class has no session at 18:30.
	w.book(t, "class", key, newOrder(yoga, monday, "18:30")).checkStatus(t, http.StatusConflict, "not_a_start")
	w.book(t, "class", key, newOrder(yoga, monday, "18:00").withField("service_ids", []string{yoga, services["Cut"]})).
		checkStatus(t, http.StatusBadRequest, "invalid_parameter")
	if n := w.countDays(t, "class", "2027-03-08", "service_id="+yoga); n != 1 {
		t.Errorf("a week later there are %d sessions, want 1", n)
	}
	if n := w.countDays(t, "class", "2027-03-15", "service_id="+yoga); n != 0 {
		t.Errorf("a closed day has %d sessions", n)
	}
}

// TestClassOccupiesItsTeacher checks that Ben is busy from 18:00 to 19:15, even if no seat of his class is sold.
func TestClassOccupiesItsTeacher(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "teacher", buildStudio("teacher"))
	services, key := w.idsByName(t, "teacher", "services"), w.createKey(t, "teacher", "all")
	times := func(date string) string {
		var all []string
		for _, s := range w.listSlots(t, "teacher", date, "service_id="+services["Cut"]).Slots {
			all = append(all, s.Time)
		}
		return strings.Join(all, " ")
	}
	if got := times("2027-03-01"); got != "16:00 16:30 17:00 17:30 19:30" {
		t.Errorf("next to the class, Ben is offered at %s", got)
	}
	if got := times("2027-03-02"); got != "16:00 16:30 17:00 17:30 18:00 18:30 19:00 19:30" {
		t.Errorf("on a day without a class, Ben is offered at %s", got)
	}
	w.book(t, "teacher", key, newOrder(services["Cut"], "2027-03-01", "18:30")).checkStatus(t, http.StatusConflict,
		"no_staff_available")

	// A sold seat keeps Ben busy even if the session is no longer offered.
	w.book(t, "teacher", key, newOrder(services["Yoga"], "2027-03-01", "18:00")).checkStatus(t, http.StatusCreated,
		"")
	w.publish(t, "teacher", strings.Replace(buildStudio("teacher"), `weekday: mon, time: "18:00"`,
		`weekday: tue, time: "18:00"`, 1))
	if got := times("2027-03-01"); got != "16:00 16:30 17:00 17:30 19:30" {
		t.Errorf("next to the booked class, Ben is offered at %s", got)
	}

	// An earlier appointment keeps Ben busy, so that a later session is not offered.
	w.book(t, "teacher", key, newOrder(services["Cut"], "2027-03-08", "18:30")).checkStatus(t, http.StatusCreated,
		"")
	w.publish(t, "teacher", buildStudio("teacher"))
	if got := w.countRemainingSeats(t, "teacher", "2027-03-08", services["Yoga"]); got != "" {
		t.Errorf("a class is offered while its teacher Ben is occupied: %s", got)
	}
	w.book(t, "teacher", key, newOrder(services["Yoga"], "2027-03-08", "18:00")).checkStatus(t, http.StatusConflict,
		"slot_unavailable")
}

func TestClassSessionsWithSameStartAreSeparate(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "two", buildStudio("two"))
	key, spinning := w.createKey(t, "two", "all"), w.idsByName(t, "two", "services")["Spinning"]
	sessions := w.listSeats(t, "two", "2027-03-02", spinning)
	if len(sessions) != 2 || *sessions[0].RemainingCapacity != 2 || *sessions[1].RemainingCapacity != 1 ||
		sessions[0].StaffName != nil {
		t.Fatalf("the sessions are %+v", sessions)
	}
	ride := newOrder(spinning, "2027-03-02", "07:00")
	w.book(t, "two", key, ride.withField("class_schedule_id", sessions[1].ClassScheduleID)).checkStatus(t,
		http.StatusCreated, "")
	w.book(t, "two", key, ride.withField("class_schedule_id", sessions[1].ClassScheduleID)).checkStatus(t,
		http.StatusConflict,
		"slot_unavailable")
	if got := w.countRemainingSeats(t, "two", "2027-03-02", spinning); got != "07:00 2" {
		t.Errorf("after the second session was sold out: %s", got)
	}
	w.publish(t, "two", strings.Replace(buildStudio("two"), `key: b-room, date: 2027-03-02, time: "07:00", capacity: 1`,
		`key: b-room, date: 2027-03-02, time: "07:00", capacity: 3`, 1))
	// a request without a session gets the first one with free seats
	w.book(t, "two", key, ride).checkStatus(t, http.StatusCreated, "")
	if got := w.countRemainingSeats(t, "two", "2027-03-02", spinning); got != "07:00 1, 07:00 2" {
		t.Errorf("a seat without a session named was taken so that %s remain", got)
	}
	// The first session has too few free seats for two people.
	w.book(t, "two", key, ride.withField("party_size", 2)).checkStatus(t, http.StatusCreated, "")
	w.book(t, "two", key, ride).checkStatus(t, http.StatusCreated, "")
	w.book(t, "two", key, ride).checkStatus(t, http.StatusConflict, "slot_unavailable")
	w.book(t, "two", key, ride.withField("class_schedule_id", key)).checkStatus(t, http.StatusBadRequest,
		"invalid_parameter")
	cut := w.idsByName(t, "two", "services")["Cut"]
	w.book(t, "two", key, newOrder(cut, "2027-03-02", "16:00").withField("class_schedule_id",
		sessions[0].ClassScheduleID)).
		checkStatus(t, http.StatusBadRequest, "invalid_parameter")
}

// TestConcurrentPartiesFillClassSeats lets 50 parties of one to three people book ten seats at the same time. Each
// refused party is larger than the number of seats that remain free.
func TestConcurrentPartiesFillClassSeats(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "fifty", buildStudio("fifty"))
	key, yoga := w.createKey(t, "fifty", "write"), w.idsByName(t, "fifty", "services")["Yoga"]
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		seated   int
		smallest = 100 // size of the smallest refused party
	)
	begin := make(chan struct{})
	for i := range 50 {
		party := 1 + i%3
		wg.Go(func() {
			<-begin
			a, err := w.tryBook("fifty", key, newOrder(yoga, "2027-03-01", "18:00").withField("party_size", party), nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case a.status == http.StatusCreated:
				seated += party
			case a.status == http.StatusConflict:
				smallest = min(smallest, party)
			default:
				t.Errorf("a party of %d was answered %d: %s", party, a.status, a.body)
			}
		})
	}
	close(begin)
	wg.Wait()
	if seated > 10 || seated+smallest <= 10 {
		t.Errorf("%d sit on 10 seats, and a party of %d was refused", seated, smallest)
	}
	counted := queryRow(t, w.databaseURL, `
		SELECT (SELECT sum(taken) FROM booking.class_sessions WHERE business_id = b.id),
			(SELECT sum(seats) FROM booking.class_seats WHERE business_id = b.id),
			(SELECT sum(party_size) FROM booking.bookings WHERE business_id = b.id AND status <> 'cancelled'),
			(SELECT count(*) FROM booking.occupied_time WHERE business_id = b.id)
			- (SELECT count(*) FROM booking.bookings WHERE business_id = b.id)
		FROM catalog.businesses AS b WHERE slug = $1`, 4, "fifty")
	if counted[0] != seated || counted[1] != seated || counted[2] != seated || counted[3] != 0 {
		t.Errorf("%d sit; the tables count %v", seated, counted)
	}
}

// queryRow returns one row of numbers from a database.
func queryRow(t *testing.T, databaseURL, sql string, columns int, args ...any) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	numbers, into := make([]int, columns), make([]any, columns)
	for i := range numbers {
		into[i] = &numbers[i]
	}
	if err := conn.QueryRow(ctx, sql, args...).Scan(into...); err != nil {
		t.Fatal(err)
	}
	return numbers
}
