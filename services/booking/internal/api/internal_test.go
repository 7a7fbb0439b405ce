package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// client returns a client of the internal API, as a peer uses it.
func (w *fixture) client() *bookingclient.Client {
	p := peer.New("booking", w.internal, telemetry.Discard(), peer.Timeout(2*time.Minute))
	w.t.Cleanup(p.Close)
	return bookingclient.NewClient(p)
}

func TestCreatedKeyBooksUntilRevoked(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	client := w.client()
	expires := now.Add(time.Hour)
	created, err := client.CreateKey(t.Context(), w.offer.ID, booking.NewKey{Name: " website ", Scope: "write",
		ExpiresAt: &expires})
	if err != nil {
		t.Fatal(err)
	}
	if created.Name != "website" || created.Scope != "write" || created.Prefix != created.Secret[3:11] ||
		!created.CreatedAt.Equal(now) || !created.ExpiresAt.Equal(expires) {
		t.Errorf("made %+v", created)
	}
	w.expect("with the key", w.book(created.Secret, newOrder("09:30", nil)), 201, "")
	list, err := client.Keys(t.Context(), w.offer.ID, request.Page{})
	if err != nil || len(list.Keys) != 1 || list.Keys[0].Secret != "" || list.Keys[0].LastUsedAt == nil ||
		list.NextCursor != "" {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if err := client.RevokeKey(t.Context(), w.offer.ID, created.ID); err != nil {
		t.Fatal(err)
	}
	w.expect("revoked", w.book(created.Secret, newOrder("11:30", nil)), 401, "invalid_api_key")
	if err := client.RevokeKey(t.Context(), w.offer.ID, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown key: %v", err)
	}
	late, err := client.CreateKey(t.Context(), w.offer.ID, booking.NewKey{Name: "x", Scope: "all", ExpiresAt: &expires})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Hour)
	w.expect("expired", w.book(late.Secret, newOrder("11:30", nil)), 401, "invalid_api_key")
	if err := client.RevokeAllKeys(t.Context(), w.offer.ID); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM api_keys WHERE revoked_at IS NULL`); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestKeySecretsAreNotStored(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	created, err := w.client().CreateKey(t.Context(), w.offer.ID, booking.NewKey{Name: "x", Scope: "all"})
	if err != nil {
		t.Fatal(err)
	}
	var row string
	if err := w.pool.QueryRow(t.Context(), `SELECT k::text FROM api_keys AS k`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(row, created.Secret[3:]) || strings.Contains(row, created.Secret[11:30]) {
		t.Errorf("the row holds the key: %s", row)
	}
}

func TestCreateKeyRejectsInvalidFields(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	past := now
	for field, key := range map[string]booking.NewKey{
		"name":       {Name: " ", Scope: "all"},
		"name:":      {Name: strings.Repeat("x", 101), Scope: "all"},
		"scope":      {Name: "x", Scope: "admin"},
		"expires_at": {Name: "x", Scope: "all", ExpiresAt: &past},
	} {
		_, err := w.client().CreateKey(t.Context(), w.offer.ID, key)
		if !fault.Is(err, fault.InvalidParameter) || !strings.HasPrefix(fault.Of(err).Sentence, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, body := range []string{"", "[]", `{"name": 7}`, `{"name": "x", "scope": "all", "expires_at": "tomorrow"}`} {
		a := w.send(http.MethodPost, w.internal+"/internal/businesses/"+w.offer.ID.String()+"/keys", body,
			http.Header{})
		w.expect(body, a, 400, "invalid_parameter")
	}
}

func TestPeersReadOccupiedTime(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	a := w.book(w.key("write"), newOrder("09:30", nil))
	from := time.Date(2027, 3, 2, 0, 0, 0, 0, time.UTC)
	occupied, err := w.client().Occupied(t.Context(), w.offer.ID, from, from.Add(24*time.Hour), booking.OccupiedQuery{})
	if err != nil {
		t.Fatal(err)
	}
	start := from.Unix() + 9*3600 + 30*60
	if len(occupied.Busy) != 1 || occupied.Busy[0].ID != *a.body.Booking.StaffID ||
		occupied.Busy[0].CapacityUnit != 0 ||
		len(occupied.Busy[0].Edges) != 2 || occupied.Busy[0].Edges[0] != start || occupied.Busy[0].Edges[1] != start+
		55*60 {
		t.Errorf("occupied is %+v", occupied)
	}
	if others, err := w.client().Occupied(t.Context(), w.offer.ID, from, from.Add(24*time.Hour),
		booking.OccupiedQuery{Seats: true, Except: &a.body.Booking.ID}); err != nil || len(others.Busy) != 0 {
		t.Errorf("with this booking's own time left out: %+v, %v", others, err)
	}
	none, err := w.client().Occupied(t.Context(), uuid.New(), from, from.Add(booking.MaxOccupiedWindow), booking.OccupiedQuery{})
	if err != nil || none.Busy == nil || len(none.Busy) != 0 {
		t.Errorf("another business has %+v, %v", none, err)
	}
	for name, to := range map[string]time.Time{
		"empty": from, "backwards": from.Add(-time.Hour), "too long": from.Add(booking.MaxOccupiedWindow + time.Second),
		"absurd": time.Unix(1<<60, 0),
	} {
		if _, err := w.client().Occupied(t.Context(), w.offer.ID, from, to, booking.OccupiedQuery{}); !fault.Is(err,
			fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPeersListAndChangeBookings(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	client := w.client()
	key := w.key("write")
	first := w.book(key,
		newOrder("09:30", map[string]any{"form_data": map[string]any{"notes": "x", "_consent": true}})).body.Booking.ID
	second := w.book(key, newOrder("11:30", map[string]any{"date": "2027-03-03"})).body.Booking.ID

	if n, err := client.CountAhead(t.Context(), w.offer.ID); err != nil || n != 2 {
		t.Errorf("%d are ahead, %v", n, err)
	}
	page, err := client.Bookings(t.Context(), w.offer.ID, booking.Filter{}, request.Page{Limit: 1})
	if err != nil || len(page.Bookings) != 1 || page.Bookings[0].ID != first || page.NextCursor == "" {
		t.Fatalf("the first page is %+v, %v", page, err)
	}
	b := page.Bookings[0]
	if b.CustomerName != "Zoë" || b.CustomerEmail != "zoe@example.com" || *b.StaffName != "Anna" ||
		b.Total != "40.00" || b.Source != "api" ||
		b.Status != "pending" || string(b.FormData) != `{"notes":"x"}` && string(b.FormData) != `{"notes": "x"}` ||
		b.Date != "2027-03-02" {
		t.Errorf("the owner sees %+v", b)
	}
	rest, err := client.Bookings(t.Context(), w.offer.ID, booking.Filter{},
		request.Page{Limit: 1, Cursor: page.NextCursor})
	if err != nil || len(rest.Bookings) != 1 || rest.Bookings[0].ID != second || rest.NextCursor != "" {
		t.Errorf("the second page is %+v, %v", rest, err)
	}
	day := timespan.NewDate(2027, 3, 3)
	one, err := client.Bookings(t.Context(), w.offer.ID, booking.Filter{From: &day, To: &day, Status: "pending"},
		request.Page{})
	if err != nil || len(one.Bookings) != 1 || one.Bookings[0].ID != second {
		t.Errorf("of that day there are %+v, %v", one, err)
	}

	updated, err := client.Transition(t.Context(), w.offer.ID, first, booking.TransitionCancel)
	if err != nil || updated.Status != booking.StatusCancelled {
		t.Fatalf("cancelled: %+v, %v", updated, err)
	}
	if _, err := client.Transition(t.Context(), w.offer.ID, first, booking.TransitionCancel); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("cancelled again: %v", err)
	}
	w.expect("the time it freed", w.book(key, newOrder("09:30", map[string]any{"staff_id": annaID})), 201, "")
	if _, err := client.Transition(t.Context(), w.offer.ID, second, booking.TransitionConfirm); err != nil {
		t.Error(err)
	}
	w.clock.Set(time.Date(2027, 3, 3, 0, 0, 0, 0, time.UTC))
	if _, err := client.Transition(t.Context(), w.offer.ID, second, booking.TransitionComplete); err != nil {
		t.Error(err)
	}
	if _, err := client.Transition(t.Context(), w.offer.ID, second, booking.TransitionNoShow); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("no-show after complete: %v", err)
	}
	if _, err := client.Transition(t.Context(), uuid.New(), second, booking.TransitionCancel); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("of another business: %v", err)
	}
	if _, err := client.Transition(t.Context(), w.offer.ID, second, "delete"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown move: %v", err)
	}
}

func TestPeersGetFaultsForInvalidQueries(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	business := w.internal + "/internal/businesses/" + w.offer.ID.String()
	for _, path := range []string{
		"/bookings?limit=0", "/bookings?limit=1001", "/bookings?limit=x", "/bookings?cursor=x", "/bookings?status=open",
		"/bookings?from=2027-02-29", "/bookings?to=x", "/bookings?from=2027-03-02&to=2027-03-01", "/keys?limit=-1",
		"/keys?cursor=AAAA",
		"/occupied", "/occupied?from=1&to=x", "/occupied?from=99999999999999999999&to=1",
	} {
		w.expect(path, w.send(http.MethodGet, business+path, "", http.Header{}), 400, "invalid_parameter")
	}
	w.expect("no business", w.send(http.MethodGet, w.internal+"/internal/businesses/x/keys", "", http.Header{}), 400,
		"invalid_parameter")
	w.expect("not public", w.send(http.MethodGet, w.public+"/internal/businesses/"+w.offer.ID.String()+"/keys", "",
		http.Header{}), 404, "not_found")
}

// TestFinishNamesAllowedDays shows that a refusal names the allowed day and the time zone in which the
// booking was sold. The current time zone of the business has no effect.
func TestFinishNamesAllowedDays(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(nil) // 2027-03-02 09:30 in Lisbon
	w.change(func(o *catalog.Snapshot) { o.Timezone = "Pacific/Kiritimati" })
	move := func(at, move string) error {
		t.Helper()
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Set(moment)
		_, err = w.client().Transition(t.Context(), w.offer.ID, id, move)
		return err
	}
	allowed := func(at, what string) {
		t.Helper()
		if err := move(at, what); err != nil {
			t.Errorf("%s at %s: %v", what, at, err)
		}
	}
	refused := func(at, what string, kind fault.Kind, sentence string) {
		t.Helper()
		if err := move(at, what); !fault.Is(err, kind) || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%s at %s: %v, want %s", what, at, err, sentence)
		}
	}
	allowed("2027-03-01T08:00:00Z", "confirm")
	for _, what := range []string{"complete", "no-show"} {
		refused("2027-03-01T23:59:59Z", what, fault.BeforeBookingDay, "from the start of that day (Europe/Lisbon)")
		allowed("2027-03-02T00:00:00Z", what)
		refused("2027-03-04T00:00:00Z", "reopen", fault.TooLateToReopen,
			"until the end of the next day, 2027-03-03 (Europe/Lisbon)")
		allowed("2027-03-03T23:59:59Z", "reopen")
		refused("2027-03-03T23:59:59Z", "reopen", fault.Conflict, "reopen takes one that is completed or no_show")
	}
	allowed("2027-04-20T12:00:00Z", "complete")
}
