package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestBookAnswersAsSpecified(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	a := w.book(w.key("write"), newOrder("09:30", map[string]any{"party_size": 2, "source": "widget"}))
	if a.status != http.StatusCreated || !a.body.Success || a.body.PaymentRequired == nil || *a.body.PaymentRequired {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	b := a.body.Booking
	got := fmt.Sprint(b.Date, b.StartTime, b.EndTime, b.Status, b.Source, b.Total, b.Currency, b.PartySize, *b.StaffID,
		*b.StaffName,
		b.Services[0].Name, b.Services[0].DurationMinutes, b.Services[0].Price)
	want := fmt.Sprint("2027-03-02", "09:30:00", "10:15:00", "pending", "widget", "40.00", "EUR", 2, annaID, "Anna",
		"Haircut", 45, "40.00")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.expectRows(1)
	var during string
	if err := w.pool.QueryRow(t.Context(), `SELECT during::text FROM occupied_time`).Scan(&during); err != nil {
		t.Fatal(err)
	}
	if during != `["2027-03-02 09:30:00+00","2027-03-02 10:25:00+00")` {
		t.Errorf("the booking occupies %s, want the service and its buffer", during)
	}
}

func TestListShowsCustomerLanguage(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.expect("booked", w.book(w.key("write"), newOrder("10:00", map[string]any{"locale": "PT-br"})), 201, "")
	list, err := w.client().Bookings(t.Context(), w.offer.ID, booking.Filter{}, request.Page{})
	if err != nil || list.Bookings[0].Locale != "pt" {
		t.Errorf("the list is %+v, %v", list, err)
	}
}

func TestBookSumsServices(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	a := w.book(w.key("all"), newOrder("09:30", map[string]any{"service_ids": []uuid.UUID{cutID, freeID}}))
	b := a.body.Booking
	if a.status != http.StatusCreated || b.EndTime != "10:30:00" || b.Total != "40.00" || len(b.Services) != 2 ||
		b.Services[1].Name != "Advice" || b.Services[1].Price != "0.00" || b.Source != "api" {
		t.Errorf("got %d %s", a.status, a.text)
	}
}

// TestBookChecksInOrder makes every check fail, and then makes them succeed one by one in their order
// (semantics.md §3).
func TestBookChecksInOrder(t *testing.T) {
	t.Parallel()
	w := open(t, limits.Config{BookPerMinute: 18, KeyPerMinute: 13})
	expired := now
	w.change(func(o *catalog.Snapshot) {
		removal := timespan.NewDate(2027, 6, 1)
		paused := timespan.NewDate(2027, 3, 2)
		o.Account = catalog.Account{RemovalOn: &removal}
		o.Bookings.PausedUntil, o.NotYetOpen = &paused, true
	})
	w.set(func(w *fixture) { w.slotsErr, w.hasSlots = fault.New(fault.PeerUnavailable, "away"), false })
	unknown := map[string]any{"service_ids": []uuid.UUID{uuid.New()}}
	bad := newOrder("9:30", unknown)

	w.expect("no key", w.bookAt("nowhere", "", bad), 401, "missing_api_key")
	w.expect("no key of ours", w.bookAt("nowhere", "sm_"+strings.Repeat("0", 64), bad), 401, "invalid_api_key")
	w.expect("an expired key", w.bookAt("nowhere", w.keyOf(w.offer.ID, "read", &expired), bad), 401, "invalid_api_key")
	read, write := w.key("read"), w.key("write")
	w.expect("no business", w.bookAt("nowhere", read, bad), 404, "business_not_found")
	w.expect("another business's key", w.book(w.keyOf(uuid.New(), "read", nil), bad), 401, "invalid_api_key")
	w.expect("scope read", w.book(read, bad), 403, "scope_forbidden")
	w.expect("no subscription", w.book(write, bad), 403, "subscription_inactive")
	w.change(func(o *catalog.Snapshot) { o.Account.SubscriptionActive = true })
	w.expect("removal", w.book(write, bad), 403, "account_closing")
	w.change(func(o *catalog.Snapshot) { o.Account.RemovalOn = nil })
	w.expect("not open yet", w.book(write, bad), 403, "not_open_yet")
	w.change(func(o *catalog.Snapshot) { o.NotYetOpen = false })
	w.expect("paused", w.book(write, bad), 403, "not_accepting_bookings")
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = nil })
	w.expect("a bad body", w.book(write, bad), 400, "invalid_parameter")
	w.expect("no service", w.book(write, newOrder("09:30", unknown)), 404, "service_not_found")
	w.expect("availability away", w.book(write, newOrder("09:30", nil)), 503, "availability_unverified")
	w.set(func(w *fixture) { w.slotsErr = nil })
	w.expect("no slot", w.book(write, newOrder("09:30", nil)), 409, "no_staff_available")
	w.set(func(w *fixture) { w.hasSlots = true })
	w.expect("all mended", w.book(write, newOrder("09:30", nil)), 201, "")
	w.expectRows(1)
	for range 3 { // with the write key: 8 requests above, 11 with these
		w.book(write, bad)
	}
	a := w.book(write, bad) // the 18th request from this address
	w.expect("over the limit of the address", a, 429, "rate_limited")
	if a.header.Get("Retry-After") == "" {
		t.Error("429 has no Retry-After")
	}
}

func TestKeyLimitAnswers401(t *testing.T) {
	t.Parallel()
	w := open(t, limits.Config{BookPerMinute: 1000, KeyPerMinute: 3})
	key := w.key("write")
	for range 3 {
		w.expect("within the limit", w.bookAt("nowhere", key, "{}"), 404, "business_not_found")
	}
	a := w.bookAt("nowhere", key, "{}")
	w.expect("over it", a, 401, "rate_limited")
	if a.body.Error != "Rate limit exceeded" || a.header.Get("Retry-After") == "" {
		t.Errorf("got %q, Retry-After %q", a.body.Error, a.header.Get("Retry-After"))
	}
	w.expect("another key", w.bookAt("nowhere", w.key("write"), "{}"), 404, "business_not_found")
}

func TestAddressLimitCountsBeforeKey(t *testing.T) {
	t.Parallel()
	w := open(t, limits.Config{BookPerMinute: 10, KeyPerMinute: 100})
	for range 10 {
		w.expect("within the limit", w.book("", "{}"), 401, "missing_api_key")
	}
	w.expect("the eleventh", w.book("", "{}"), 429, "rate_limited")
}

func TestRevokedKeyIsRejectedImmediately(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	secret := w.key("write")
	w.expect("before", w.book(secret, newOrder("09:30", nil)), 201, "")
	if err := w.store.RevokeAllKeys(testkit.AsSystem(t), w.offer.ID, now); err != nil {
		t.Fatal(err)
	}
	w.expect("after", w.book(secret, newOrder("11:30", nil)), 401, "invalid_api_key")
}

func TestAuthorizationHeaderIsParsedStrictly(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	for header, code := range map[string]string{
		"Basic " + key: "missing_api_key", key: "missing_api_key", "Bearer": "missing_api_key",
		"Bearer  ":            "missing_api_key",
		"Bearer " + key + "0": "invalid_api_key", "Bearer " + strings.ToUpper(key): "invalid_api_key",
		"Bearer x": "invalid_api_key",
	} {
		a := w.book("", "{}", "Authorization", header)
		w.expect(header, a, 401, code)
		if a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", header)
		}
	}
	w.expect("another case of the scheme", w.book("", "{}", "Authorization", "bearer "+key), 400, "invalid_parameter")
}

func TestKeyUseIsStoredOncePerMinute(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	used := func() time.Time {
		var at time.Time
		if err := w.pool.QueryRow(t.Context(), `SELECT last_used_at FROM api_keys`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at.UTC()
	}
	for _, step := range []struct{ after, want time.Duration }{{0, 0}, {59 * time.Second, 0},
		{time.Second, time.Minute}} {
		w.clock.Advance(step.after)
		w.book(key, "{}")
		if got := used(); !got.Equal(now.Add(step.want)) {
			t.Errorf("last used %s, want %s", got, now.Add(step.want))
		}
	}
}

// sendAll calls `send` n times at once and returns the number of answers by status.
func sendAll(w *fixture, n int, send func(i int) answer) map[int]int {
	var (
		wg      sync.WaitGroup
		answers = make([]answer, n)
		start   = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			<-start
			answers[i] = send(i)
		})
	}
	close(start)
	wg.Wait()
	byStatus := map[int]int{}
	for _, a := range answers {
		byStatus[a.status]++
	}
	return byStatus
}

func TestConcurrentBooksOfOneSlotBookOne(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	got := sendAll(w, 200, func(int) answer {
		return w.book(key, newOrder("09:30", map[string]any{"staff_id": annaID}))
	})
	if diff := cmp.Diff(map[int]int{201: 1, 409: 199}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	w.expectRows(1)
}

func TestConcurrentBooksBookEachMemberOnce(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	got := sendAll(w, 200, func(i int) answer {
		return w.book(key, newOrder("09:30", map[string]any{"customer_email": fmt.Sprintf("c%d@example.com", i)}))
	})
	if diff := cmp.Diff(map[int]int{201: 3, 409: 197}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	w.expectRows(3)
}

func TestBookRejectsOverlap(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	sendAll(w, 60, func(i int) answer {
		return w.book(key, newOrder(fmt.Sprintf("09:%02d", i), map[string]any{"staff_id": annaID}))
	})
	if n := w.count(`SELECT count(*) FROM bookings`); n < 1 || n > 2 { // 55 minutes each
		t.Errorf("%d are booked", n)
	}
	if n := w.count(`SELECT count(*) FROM bookings a JOIN bookings b ON a.id < b.id AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at`); n != 0 {
		t.Errorf("%d pairs overlap", n)
	}
}

func TestOnlyFirstBookingHasFirstPrice(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.PriceNeeds = []rule.Input{rule.NewCustomer} })
	key := w.key("write")
	var (
		mu     sync.Mutex
		totals = map[string]int{}
	)
	sendAll(w, 12, func(i int) answer {
		a := w.book(key, newOrder(fmt.Sprintf("%02d:00", 8+i), nil))
		mu.Lock()
		defer mu.Unlock()
		totals[a.body.Booking.Total.String()]++
		return a
	})
	if diff := cmp.Diff(map[string]int{"36.00": 1, "40.00": 11}, totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	w.expectRows(12)
}

func TestBookRejectsOtherBodies(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.expect("another type", w.book(key, newOrder("09:30", nil), "Content-Type", "text/plain"), 415,
		"unsupported_media_type")
	w.expect("a form", w.book(key, "a=b", "Content-Type", "application/x-www-form-urlencoded"), 415,
		"unsupported_media_type")
	w.expect("broken", w.book(key, "{"), 400, "invalid_parameter")
	w.expect("too large", w.book(key, `{"a":"`+strings.Repeat("x", 256<<10)+`"}`), 413, "payload_too_large")
	w.expect("with a charset", w.book(key, newOrder("09:30", nil), "Content-Type", "application/json; charset=utf-8"),
		201,
		"")
}
