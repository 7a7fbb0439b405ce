package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// feed creates a calendar feed of one member, or of all members if `staff` is nil.
func (w *fixture) feed(staff *uuid.UUID, shows string) *booking.Calendar {
	w.t.Helper()
	feed, err := w.client().CreateCalendar(w.t.Context(), w.offer.ID,
		booking.NewCalendar{Slug: "harbor", StaffID: staff, Shows: shows})
	if err != nil {
		w.t.Fatal(err)
	}
	return feed
}

// setAdvanceMonth lets customers book up to thirty days ahead.
func setAdvanceMonth(o *catalog.Snapshot) { o.Bookings.AdvanceDays = 30 }

// page is a response that is not JSON.
type page struct {
	status int
	header http.Header
	text   string
}

// read sends a GET request to the internal port; `header` has pairs of name and value.
func (w *fixture) read(path string, header ...string) page {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.internal+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := w.http.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return page{response.StatusCode, response.Header, string(text)}
}

// icalPackage is the npm package that reads calendars, as an independent check.
const icalPackage = "ical.js@2.2.1"

// entry is a calendar event as ical.js reads it.
type entry struct {
	UID, Summary, Description, Status, Start, End string
	Sequence                                      int
}

func entries(t *testing.T, text string) []entry {
	t.Helper()
	run := testkit.InstallNode(t, icalPackage).Script(t, `
		const ICAL = require("ical.js");
		const calendar = new ICAL.Component(ICAL.parse(require("fs").readFileSync(0, "utf8")));
		console.log(JSON.stringify(calendar.getAllSubcomponents("vevent").map(component => {
			const e = new ICAL.Event(component);
			return {UID: e.uid, Summary: e.summary, Description: e.description || "", Status: component.getFirstPropertyValue("status"),
				Start: e.startDate.toJSDate().toISOString(), End: e.endDate.toJSDate().toISOString(), Sequence: e.sequence};
		})));`, []byte(text))
	var read []entry
	if err := json.Unmarshal([]byte(run.Stdout), &read); err != nil || run.Exit != 0 {
		t.Fatalf("ical.js: %v %s", err, run.Stderr)
	}
	return read
}

func (w *fixture) bookID(at string, changes map[string]any) uuid.UUID {
	w.t.Helper()
	a := w.book(w.key("write"), newOrder(at, changes))
	w.expect("booked at "+at, a, http.StatusCreated, "")
	return a.body.Booking.ID
}

func TestFeedShowsBookingsOfOneOrAllMembers(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 12, 0)
	w.change(setAdvanceMonth)
	cut := w.bookID("10:00", map[string]any{"staff_id": benID, "customer_name": "Zoë; Müller, \"Z\""})
	erasedID := w.bookID("12:00", map[string]any{"staff_id": benID, "customer_email": "gone@example.com"})
	confirmed := w.bookID("14:00", map[string]any{"staff_id": annaID, "customer_email": "c@example.com",
		"party_size": 2})
	for i, party := range []int{1, 3} {
		w.expect("yoga",
			w.book(w.key("write"),
				newYogaBooking(party, map[string]any{"customer_email": fmt.Sprintf("y%d@example.com", i),
					"customer_name": fmt.Sprintf("Guest %d", i)})), 201, "")
	}
	client := w.client()
	if _, err := client.Transition(t.Context(), w.offer.ID, erasedID, booking.TransitionCancel); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Transition(t.Context(), w.offer.ID, confirmed, booking.TransitionConfirm); err != nil {
		t.Fatal(err)
	}
	class := entry{UID: eveningID.String() + "-" + fmt.Sprint(time.Date(2027, 3, 2, 18, 0, 0, 0, time.UTC).Unix()),
		Summary:     "Yoga (4)",
		Description: "Anna\nGuest 0\nGuest 1 (3)", Status: "CONFIRMED", Start: "2027-03-02T18:00:00.000Z",
		End: "2027-03-02T19:00:00.000Z"}
	first := entry{UID: cut.String(), Summary: `Haircut · Zoë; Müller, "Z"`, Description: "Ben", Status: "TENTATIVE",
		Sequence: 1,
		Start:    "2027-03-02T10:00:00.000Z", End: "2027-03-02T10:45:00.000Z"}
	second := entry{UID: confirmed.String(), Summary: "Haircut · Zoë (2)", Description: "Anna", Status: "CONFIRMED",
		Sequence: 2,
		Start:    "2027-03-02T14:00:00.000Z", End: "2027-03-02T14:45:00.000Z"}
	bare := func(e entry) entry { e.Summary, e.Description = w.offer.Name, ""; return e }
	alone := func(e entry) entry {
		e.Description = strings.TrimPrefix(strings.TrimPrefix(e.Description, "Anna"), "\n")
		return e
	}
	anna, ben := annaID, benID
	for name, c := range map[string]struct {
		staff *uuid.UUID
		shows string
		want  []entry
	}{
		"all with names":    {nil, booking.ShowsNames, []entry{first, second, class}},
		"all by times":      {nil, booking.ShowsTimes, []entry{bare(first), bare(second), bare(class)}},
		"Anna's with names": {&anna, booking.ShowsNames, []entry{alone(second), alone(class)}},
		"Ben's by times":    {&ben, booking.ShowsTimes, []entry{bare(first)}},
	} {
		got := w.read(bookingclient.CalendarPath(w.feed(c.staff, c.shows).Token))
		if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/calendar; charset=utf-8" {
			t.Fatalf("%s: %d %v", name, got.status, got.header)
		}
		if diff := cmp.Diff(c.want, entries(t, got.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.shows == booking.ShowsTimes && (strings.Contains(got.text, "Guest") || strings.Contains(got.text, "Zo") ||
			strings.Contains(got.text, "Haircut")) {
			t.Errorf("%s shows more than times:\n%s", name, got.text)
		}
		if strings.Contains(got.text, "@example.com") {
			t.Errorf("%s shows addresses", name)
		}
	}
}

// TestFeedCoversNinetyDaysToAdvanceLimit shows that a feed has the bookings from 90 days ago to the last
// day on which customers can book. The days are those of the business's time zone (lifecycle.md §2).
func TestFeedCoversNinetyDaysToAdvanceLimit(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	id := w.bookID("10:00", nil)
	today := time.Date(now.Year(), now.Month(), now.Day(), 10, 0, 0, 0, time.UTC)
	for days, shown := range map[int]bool{-91: false, -90: true, 0: true, 30: true, 31: false} {
		at := today.AddDate(0, 0, days)
		if _, err := w.pool.Exec(t.Context(), `UPDATE bookings SET local_start = $2::timestamp, starts_at = $2::timestamp, local_end = $3::timestamp, ends_at = $3::timestamp WHERE id = $1`, id, at, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		got := w.read(bookingclient.CalendarPath(w.feed(nil, booking.ShowsTimes).Token))
		if strings.Contains(got.text, id.String()) != shown {
			t.Errorf("a booking of %d days from now: shown is %v", days, !shown)
		}
	}
}

// TestFeedIsCachedForOneMinute shows that many requests in the same minute compute a feed once. A client that
// already has the newest version gets 304 Not Modified.
func TestFeedIsCachedForOneMinute(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	path := bookingclient.CalendarPath(w.feed(nil, booking.ShowsNames).Token)
	w.trips.take()
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if got := w.read(path); got.status != http.StatusOK {
				t.Errorf("%d %s", got.status, got.text)
			}
		})
	}
	wg.Wait()
	readings := 0
	for _, sent := range w.trips.take() {
		if sent == "FROM occupied_time" { // each computation of a feed sends this statement
			readings++
		}
	}
	if readings != 1 {
		t.Errorf("32 readings at once read the bookings %d times", readings)
	}
	empty := w.read(path)
	id := w.bookID("10:00", nil)
	w.clock.Advance(59 * time.Second)
	same := w.read(path, "If-None-Match", empty.header.Get("ETag"))
	if same.status != http.StatusNotModified || same.text != "" || same.header.Get("ETag") != empty.header.Get("ETag") {
		t.Errorf("within the minute: %d %q", same.status, same.text)
	}
	w.clock.Advance(time.Second)
	fresh := w.read(path, "If-None-Match", empty.header.Get("ETag"))
	if fresh.status != http.StatusOK || !strings.Contains(fresh.text, id.String()) ||
		fresh.header.Get("ETag") == empty.header.Get("ETag") {
		t.Errorf("after the minute: %d %q", fresh.status, fresh.text)
	}
	w.clock.Advance(time.Minute)
	if again := w.read(path, "If-None-Match",
		`"other", `+fresh.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("what has not changed has another tag: %d", again.status)
	}
}

// TestInvalidFeedTokensGetSameAnswer shows that every token without a feed gets the same response. So a client
// cannot learn which tokens existed.
func TestInvalidFeedTokensGetSameAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	client := w.client()
	revoked, live := w.feed(nil, booking.ShowsNames), w.feed(nil, booking.ShowsNames)
	if w.read(bookingclient.CalendarPath(revoked.Token)).status != http.StatusOK {
		t.Fatal("the feed does not open")
	}
	for range 2 {
		if err := client.RevokeCalendar(t.Context(), w.offer.ID, revoked.ID); err != nil {
			t.Fatal(err)
		}
	}
	one := w.read(bookingclient.CalendarPath(revoked.Token))
	if one.status != http.StatusNotFound || !strings.Contains(one.text, `"messageCode":"not_found"`) {
		t.Fatalf("revoked: %d %s", one.status, one.text)
	}
	rapid.Check(t, func(rt *rapid.T) {
		token := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_-]{22}`), rapid.StringMatching(`[A-Za-z0-9_=+%.-]{1,40}`),
			rapid.Custom(func(rt *rapid.T) string {
				changed := []byte(live.Token)
				changed[rapid.IntRange(0, 21).Draw(rt, "at")] ^= 1
				return string(changed)
			})).Draw(rt, "token")
		if token == live.Token {
			return
		}
		if got := w.read(bookingclient.CalendarPath(token)); got.status != one.status || got.text != one.text {
			rt.Fatalf("%q: %d %s", token, got.status, got.text)
		}
	})
	w.change(func(o *catalog.Snapshot) { o.ID = uuid.New() }) // the business is removed, and another one has its slug
	if got := w.read(bookingclient.CalendarPath(live.Token)); got.text != one.text {
		t.Errorf("of a removed business: %d %s", got.status, got.text)
	}
}

func TestOwnerCreatesListsAndRevokesFeeds(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	client, keyed := w.client(), idempotency.With(t.Context(), idempotency.Request{Key: "one"})
	req := booking.NewCalendar{Slug: "harbor", Shows: booking.ShowsNames}
	feed, err := client.CreateCalendar(keyed, w.offer.ID, req)
	if err != nil || feed.URL != pagesURL+"/calendar/"+feed.Token+".ics" || !feed.CreatedAt.Equal(now) {
		t.Fatalf("made %+v, %v", feed, err)
	}
	if _, err := client.CreateCalendar(keyed, w.offer.ID, req); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), feed.ID.String()) {
		t.Errorf("made again: %v", err)
	}
	hash, _ := link.HashToken(feed.Token)
	if n := w.countOf(`SELECT count(*) FROM calendar_feeds WHERE token_hash = $1`, hash); n != 1 {
		t.Errorf("%d rows have the token's hash", n)
	}
	nobody := uuid.New()
	for sentence, wrong := range map[string]booking.NewCalendar{
		"shows:":    {Slug: "harbor", Shows: "all"},
		"staff_id:": {Slug: "harbor", Shows: "times", StaffID: &nobody},
	} {
		if _, err := client.CreateCalendar(t.Context(), w.offer.ID, wrong); !fault.Is(err, fault.InvalidParameter) ||
			!strings.Contains(err.Error(), sentence) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if err := client.RevokeCalendar(t.Context(), uuid.New(), feed.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another business ends it: %v", err)
	}
	w.read(bookingclient.CalendarPath(feed.Token))
	if err := client.RevokeCalendar(t.Context(), w.offer.ID, feed.ID); err != nil {
		t.Fatal(err)
	}
	list, err := client.Calendars(t.Context(), w.offer.ID, request.Page{})
	if err != nil || len(list.Calendars) != 1 || list.Calendars[0].Token+list.Calendars[0].URL != "" ||
		list.Calendars[0].LastUsedAt == nil || list.Calendars[0].RevokedAt == nil {
		t.Errorf("the list is %+v, %v", list, err)
	}
}
