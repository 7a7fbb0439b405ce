package e2e

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// movable is a salon whose customers may move what they booked, with a class in three sessions a Tuesday.
func movable(slug string, untilHours int) string {
	manifest := strings.Replace(salon(slug, 2), "pricing_rules:", `  - key: spin
    name: Spinning
    duration_minutes: 45
    order: 4
    classes:
      - {key: a, weekday: tue, time: "10:00", capacity: 4}
      - {key: b, weekday: tue, time: "11:00", capacity: 4}
      - {key: c, weekday: tue, time: "12:00", capacity: 2}
      - {key: d, weekday: tue, time: "14:00", capacity: 5}
pricing_rules:`, 1)
	return manifest + fmt.Sprintf("self_service: {reschedule_until_hours: %d}\n", untilHours)
}

// linked books and gives the customer's link.
func (w *world) linked(t *testing.T, slug, key string, o order) string {
	t.Helper()
	var booked struct {
		ManageURL string `json:"manage_url"`
	}
	w.book(t, slug, key, o).into(t, http.StatusCreated, &booked)
	return booked.ManageURL
}

var starts = regexp.MustCompile(`name="to" value="([^"]*)"`)

// movesTo are the starts that a page offers to move to, as it sends them, by their time.
func (s shown) movesTo(t *testing.T, day string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, found := range starts.FindAllStringSubmatch(s.text, -1) {
		to := html.UnescapeString(found[1])
		q, err := url.ParseQuery(to)
		if err != nil || q.Get("date") != day {
			t.Fatalf("the page offers %q: %v", to, err)
		}
		all[q.Get("time")] = to
	}
	return all
}

// The page lists for a package, a class and a member what moving there accepts, and nothing else: every quarter of an
// hour is tried.
func TestAMoveIsOfferedWhereItIsAccepted(t *testing.T) {
	t.Parallel()
	w := shared(t)
	database, err := pgx.Connect(t.Context(), w.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close(context.Background()) })
	w.publish(t, "moves", movable("moves", 0))
	services, staff, key := w.named(t, "moves", "services"), w.named(t, "moves", "staff"), w.key(t, "moves", "write")
	day := ""
	at := func(service, clock string) order { return appointment(services[service], day, clock) }
	both := func(clock string) order {
		return at("", clock).with("service_ids", []string{services["Cut"], services["Wash"]}).with("is_package", true)
	}
	for name, o := range map[string]struct {
		day   string
		order func() order
	}{
		"a package with one member": {"2027-03-02", func() order { return both("12:30") }},
		"a package with a member for each": {"2027-03-09", func() order {
			return both("15:00").with("staffing_mode", "per_service")
		}},
		"with the member who was asked for": {"2027-03-16", func() order {
			return at("Cut", "09:00").with("staff_id", staff["Member 0"])
		}},
		"with anyone": {"2027-03-23", func() order { return at("Cut", "13:00") }},
		"a class for three": {"2027-03-30", func() order {
			return at("Spinning", "14:00").with("party_size", 3)
		}},
	} {
		day = o.day
		for _, other := range []order{
			at("Cut", "10:00").with("staff_id", staff["Member 0"]),
			at("Cut", "11:15").with("staff_id", staff["Member 1"]),
			at("Wash", "14:00").with("staff_id", staff["Member 0"]), at("Spinning", "10:00").with("party_size", 2),
		} {
			w.book(t, "moves", key, other).want(t, http.StatusCreated, "")
		}
		booked := o.order()
		link := w.linked(t, "moves", key, booked)
		page := w.browse(t, link+"/move", nil) // which begins with the booking's own day
		page.want(t, name, http.StatusOK, "Choose another time", `class="day chosen"`)
		listed := page.movesTo(t, day)
		want := []string{booked["time"].(string)} // where it is, which it may be moved to as well
		for clock := range listed {
			want = append(want, clock)
		}
		slices.Sort(want)
		if accepted := w.accepted(t, database, link, day, listed); !slices.Equal(accepted, want) || len(want) < 2 {
			t.Errorf("%s: accepted at %v, and listed at %v", name, accepted, want)
		}
	}
}

// accepted returns the starts of a day to which a booking can be moved, of every quarter of an hour. A listed one is
// sent as the page sends it. Moves of the last hour are made older, as a customer can move a booking only a few times
// an hour.
func (w *world) accepted(t *testing.T, database *pgx.Conn, link, day string, listed map[string]string) []string {
	t.Helper()
	var all []string
	for minute := 9 * 60; minute < 17*60; minute += 15 {
		clock := fmt.Sprintf("%02d:%02d", minute/60, minute%60)
		to := "date=" + day + "&time=" + clock
		if listed[clock] != "" {
			to = listed[clock]
		}
		switch answer := w.browse(t, link+"/move", url.Values{"to": {to}}); answer.status {
		case http.StatusSeeOther:
			all = append(all, clock)
			// One row alone: two would be locked in another order than the feed of events locks them.
			if _, err := database.Exec(t.Context(), `UPDATE booking.events SET at = at - interval '2 hours' WHERE ctid =
				(SELECT ctid FROM booking.events WHERE type = 'booking.rescheduled'
				AND business_id = (SELECT id FROM catalog.businesses WHERE slug = 'moves') ORDER BY at DESC LIMIT 1)`); err != nil {
				t.Fatal(err)
			}
		case http.StatusConflict:
		default:
			t.Errorf("to %s: %d", clock, answer.status)
		}
	}
	return all
}

// Whoever comes after self_service.reschedule_until_hours is not offered a move, and none that is sent is made.
func TestAMoveThatComesTooLateIsNotOffered(t *testing.T) {
	t.Parallel()
	w := shared(t)
	w.publish(t, "moves-late", movable("moves-late", 48))
	services, key := w.named(t, "moves-late", "services"), w.key(t, "moves-late", "all")
	for date, allowed := range map[string]bool{"2027-03-02": false, "2027-03-09": true} {
		link := w.linked(t, "moves-late", key, appointment(services["Cut"], date, "10:00"))
		page := w.browse(t, link, nil)
		if offered := strings.Contains(page.text, `/move"`); offered != allowed {
			t.Errorf("%s: a move is offered: %v", date, offered)
		}
		if asked := w.browse(t, link+"/move", nil); (asked.status == http.StatusOK) != allowed || !allowed &&
			asked.location != strings.TrimPrefix(link, w.PublicURL) {
			t.Errorf("%s: the page of moves: %d to %q", date, asked.status, asked.location)
		}
		moved := w.browse(t, link+"/move", url.Values{"to": {"date=2027-03-10&time=12:00"}})
		if done := strings.HasSuffix(moved.location, "?done=moved"); done != allowed {
			t.Errorf("%s: moved %v, to %q", date, done, moved.location)
		}
	}
	// What was not pressed on the page moves nothing, and opens it again.
	link := w.linked(t, "moves-late", key, appointment(services["Cut"], "2027-03-15", "10:00"))
	for _, to := range []string{"", "date=2027-03-16", "date=x&time=10:00", "%"} {
		w.browse(t, link+"/move", url.Values{"to": {to}}).want(t, to, http.StatusConflict, "Choose another time")
	}
}
