package api_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const header = "Idempotency-Key"

func TestRetryGetsStoredAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	first := w.book(key, newOrder("09:30", nil), header, "k1")
	second := w.book(key, newOrder("09:30", nil), header, "k1")
	if first.status != 201 || second.status != 201 || second.text != first.text ||
		second.header.Get("Idempotent-Replayed") != "true" ||
		first.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("first %d %s\nagain %d %s", first.status, first.text, second.status, second.text)
	}
	w.expectRows(1)
	w.expect("another body", w.book(key, newOrder("11:30", nil), header, "k1"), 422, "idempotency_mismatch")
	w.expect("another key of the customer's", w.book(key, newOrder("11:30", nil), header, "k2"), 201, "")
	w.expect("another API key", w.book(w.key("write"), newOrder("13:30", nil), header, "k1"), 201, "")
	w.expectRows(3)

	paused := timespan.NewDate(2027, 3, 2)
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &paused })
	if a := w.book(key, newOrder("09:30", nil), header, "k1"); a.status != 201 || a.text != first.text {
		t.Errorf("while the business pauses, the retry gets %d %s", a.status, a.text)
	}
	w.expect("a new one while it pauses", w.book(key, newOrder("09:30", nil), header, "k9"), 403, "not_accepting_bookings")
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = nil })

	w.clock.Advance(24 * time.Hour)
	w.expect("a day later", w.book(key, newOrder("15:30", nil), header, "k1"), 201, "")
}

func TestRefusalIsNotStored(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.set(func(w *fixture) { w.slotsErr = fault.New(fault.PeerUnavailable, "away") })
	w.expect("refused", w.book(key, newOrder("09:30", nil), header, "k1"), 503, "availability_unverified")
	w.set(func(w *fixture) { w.slotsErr = nil })
	w.expect("tried again", w.book(key, newOrder("09:30", nil), header, "k1"), 201, "")
}

func TestRequestInFlightHoldsKey(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	release := make(chan struct{})
	w.set(func(w *fixture) { w.release = release })
	done := make(chan answer)
	go func() { done <- w.book(key, newOrder("09:30", nil), header, "k1") }()
	for calls := 0; calls == 0; {
		w.set(func(w *fixture) { calls = w.bookableCalls })
	}
	w.expect("while it is in flight", w.book(key, newOrder("09:30", nil), header, "k1"), 409, "idempotency_in_progress")
	w.expect("with another body", w.book(key, newOrder("11:30", nil), header, "k1"), 422, "idempotency_mismatch")

	// After a minute, the first request counts as crashed. The next request gets its lock, and the first must not book.
	w.clock.Advance(time.Minute)
	second := make(chan answer)
	go func() { second <- w.book(key, newOrder("09:30", nil), header, "k1") }()
	for calls := 0; calls < 2; {
		w.set(func(w *fixture) { calls = w.bookableCalls })
	}
	close(release)
	w.expect("who lost its key", <-done, 409, "idempotency_in_progress")
	w.expect("who took it over", <-second, 201, "")
	w.expectRows(1)
}

// noConfirmation is a store that cannot read idempotency results.
type noConfirmation struct{ *store.Store }

func (noConfirmation) FindConfirmation(context.Context, store.IdempotencyKey, [sha256.Size]byte, time.Time,
	time.Time) (store.Confirmation, error) {
	return store.Confirmation{}, errors.New("the connection broke")
}

// TestRetryWithoutCatalogGetsStoredAnswer shows how idempotency keys work while catalog is unavailable. A key
// with a booking returns that booking. Any other key is refused, for all earlier attempts too (semantics.md §3, §7).
func TestRetryWithoutCatalogGetsStoredAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = 20 })
	key := w.key("write")
	first := w.book(key, newOrder("09:30", nil), header, "k1")
	onPage, err := w.bookOnPage("k1", newPageRequest("11:30"))
	if err != nil {
		t.Fatal(err)
	}
	away := func(err error) { w.set(func(w *fixture) { w.catalogErr = err }) }
	away(fault.New(fault.PeerUnavailable, "away"))
	if second := w.book(key, newOrder("09:30", nil), header, "k1"); second.status != 201 || second.text != first.text ||
		second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the retry gets %d %s\nthe answer was %s", second.status, second.text, first.text)
	}
	if second, err := w.bookOnPage("k1", newPageRequest("11:30")); err != nil || second.ID != onPage.ID {
		t.Errorf("the page's retry gets %+v, %v", second, err)
	}
	away(nil)

	release := make(chan struct{})
	w.set(func(w *fixture) { w.release, w.bookableCalls = release, 0 })
	done := make(chan answer)
	go func() { done <- w.book(key, newOrder("13:30", nil), header, "k2") }()
	for calls := 0; calls == 0; {
		w.set(func(w *fixture) { calls = w.bookableCalls })
	}
	w.clock.Advance(time.Second)
	away(fault.New(fault.PeerUnavailable, "away"))
	w.expect("a later attempt", w.book(key, newOrder("13:30", nil), header, "k2"), 503, "availability_unverified")
	away(nil)
	close(release)
	w.expect("the earlier one", <-done, 409, "idempotency_in_progress")
	w.expectRows(2)

	away(fault.New(fault.PeerUnavailable, "away"))
	w.booker.Bookings = noConfirmation{w.store}
	w.expect("where the key cannot be looked at", w.book(key, newOrder("15:30", nil), header, "k3"), 503,
		"outcome_unknown")
	w.expect("without a key", w.book(key, newOrder("15:30", nil)), 503, "availability_unverified")
	away(fault.New(fault.BusinessNotFound, "Business not found"))
	w.expect("where there is no such business", w.book(key, newOrder("15:30", nil), header, "k3"), 404,
		"business_not_found")
}

func TestConcurrentRequestsWithOneKeyBookOnce(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	var (
		mu    sync.Mutex
		texts = map[string]bool{}
	)
	got := sendAll(w, 50, func(int) answer {
		a := w.book(key, newOrder("09:30", nil), header, "k1")
		if a.status == 201 {
			mu.Lock()
			defer mu.Unlock()
			texts[a.text] = true
		}
		return a
	})
	if got[201] < 1 || got[201]+got[409] != 50 || len(texts) != 1 {
		t.Errorf("answers %v, %d different confirmations", got, len(texts))
	}
	w.expectRows(1)
}

func TestInvalidIdempotencyKeysAreRejected(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	long := make([]byte, 256)
	for i := range long {
		long[i] = 'k'
	}
	for _, k := range []string{"", " ", string(long), "ü", "two words", "caf\xe9", "\xff\xfe", "a\tb"} {
		w.expect(k, w.book(key, newOrder("09:30", nil), header, k), 400, "invalid_parameter")
	}
	paused := timespan.NewDate(2027, 3, 2)
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &paused })
	w.expect("refused for another reason before", w.book(key, newOrder("09:30", nil), header, "caf\xe9"), 403,
		"not_accepting_bookings")
	w.expectRows(0)
}
