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

// buildReschedulableSalon returns the manifest of a salon whose customers may reschedule until `untilHours` hours
// before the start. The salon has a class with four sessions on Tuesdays.
func buildReschedulableSalon(slug string, untilHours int) string {
	manifest := strings.Replace(buildSalon(slug, 2), "pricing_rules:", `  - key: spin
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

// bookForCustomerLink books and returns the customer's link.
func (w *platform) bookForCustomerLink(t *testing.T, slug, key string, o order) string {
	t.Helper()
	var booked struct {
		ManageURL string `json:"manage_url"`
	}
	w.book(t, slug, key, o).decode(t, http.StatusCreated, &booked)
	return booked.ManageURL
}

var startField = regexp.MustCompile(`name="to" value="([^"]*)"`)

// listOfferedStarts returns the starts of a day that a page offers for rescheduling. The keys are times, and the values
// are those that the form sends.
func (s pageAnswer) listOfferedStarts(t *testing.T, day string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, found := range startField.FindAllStringSubmatch(s.text, -1) {
		to := html.UnescapeString(found[1])
		q, err := url.ParseQuery(to)
		if err != nil || q.Get("date") != day {
			t.Fatalf("the page offers %q: %v", to, err)
		}
		all[q.Get("time")] = to
	}
	return all
}

// TestReschedulePageOffersExactlyAcceptedStarts tries every quarter of an hour for a package, a class and a member.
// The page lists exactly the starts that rescheduling accepts.
func TestReschedulePageOffersExactlyAcceptedStarts(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	database, err := pgx.Connect(t.Context(), w.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close(context.Background()) })
	w.publish(t, "moves", buildReschedulableSalon("moves", 0))
	services, staff, key := w.idsByName(t, "moves", "services"), w.idsByName(t, "moves", "staff"),
		w.createKey(t, "moves", "write")
	day := ""
	at := func(service, clock string) order { return newOrder(services[service], day, clock) }
	both := func(clock string) order {
		return at("", clock).withField("service_ids",
			[]string{services["Cut"], services["Wash"]}).withField("is_package", true)
	}
	for name, o := range map[string]struct {
		day   string
		order func() order
	}{
		"a package with one member": {"2027-03-02", func() order { return both("12:30") }},
		"a package with a member for each": {"2027-03-09", func() order {
			return both("15:00").withField("staffing_mode", "per_service")
		}},
		"with the member who was asked for": {"2027-03-16", func() order {
			return at("Cut", "09:00").withField("staff_id", staff["Member 0"])
		}},
		"with anyone": {"2027-03-23", func() order { return at("Cut", "13:00") }},
		"a class for three": {"2027-03-30", func() order {
			return at("Spinning", "14:00").withField("party_size", 3)
		}},
	} {
		day = o.day
		for _, other := range []order{
			at("Cut", "10:00").withField("staff_id", staff["Member 0"]),
			at("Cut", "11:15").withField("staff_id", staff["Member 1"]),
			at("Wash", "14:00").withField("staff_id", staff["Member 0"]),
			at("Spinning", "10:00").withField("party_size", 2),
		} {
			w.book(t, "moves", key, other).checkStatus(t, http.StatusCreated, "")
		}
		booked := o.order()
		link := w.bookForCustomerLink(t, "moves", key, booked)
		page := w.browse(t, link+"/move", nil) // the page begins with the day of the booking
		page.checkPage(t, name, http.StatusOK, "Reschedule", `class="day chosen"`)
		listed := page.listOfferedStarts(t, day)
		want := []string{booked["time"].(string)} // its present start is accepted, too
		for clock := range listed {
			want = append(want, clock)
		}
		slices.Sort(want)
		if accepted := w.tryReschedules(t, database, link, day, listed); !slices.Equal(accepted, want) ||
			len(want) < 2 {
			t.Errorf("%s: accepted at %v, and listed at %v", name, accepted, want)
		}
	}
}

// tryReschedules tries to reschedule a booking to every quarter of an hour of a day and returns the accepted starts.
// It sends a listed start as the page does. A customer may reschedule only a few times an hour, so tryReschedules
// moves the events of reschedules into the past.
func (w *platform) tryReschedules(t *testing.T, database *pgx.Conn, link, day string,
	listed map[string]string) []string {
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
			// Update one row only, because the feed of events locks rows in another order.
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

// TestReschedulePageRefusesLateReschedules checks that after self_service.reschedule_until_hours the page offers no
// reschedule, and that a sent one is refused.
func TestReschedulePageRefusesLateReschedules(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "moves-late", buildReschedulableSalon("moves-late", 48))
	services, key := w.idsByName(t, "moves-late", "services"), w.createKey(t, "moves-late", "all")
	for date, isAllowed := range map[string]bool{"2027-03-02": false, "2027-03-09": true} {
		link := w.bookForCustomerLink(t, "moves-late", key, newOrder(services["Cut"], date, "10:00"))
		page := w.browse(t, link, nil)
		if isOffered := strings.Contains(page.text, `/move"`); isOffered != isAllowed {
			t.Errorf("%s: the page offers a reschedule: %v", date, isOffered)
		}
		if asked := w.browse(t, link+"/move", nil); (asked.status == http.StatusOK) != isAllowed || !isAllowed &&
			asked.location != strings.TrimPrefix(link, w.PublicURL) {
			t.Errorf("%s: the page for a reschedule: %d, redirects to %q", date, asked.status, asked.location)
		}
		moved := w.browse(t, link+"/move", url.Values{"to": {"date=2027-03-10&time=12:00"}})
		if done := strings.HasSuffix(moved.location, "?done=moved"); done != isAllowed {
			t.Errorf("%s: rescheduled %v, redirects to %q", date, done, moved.location)
		}
	}
	// An invalid start changes nothing and shows the page again.
	link := w.bookForCustomerLink(t, "moves-late", key, newOrder(services["Cut"], "2027-03-15", "10:00"))
	for _, to := range []string{"", "date=2027-03-16", "date=x&time=10:00", "%"} {
		w.browse(t, link+"/move", url.Values{"to": {to}}).checkPage(t, to, http.StatusConflict, "Reschedule")
	}
}
