package api_test

import (
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
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
	w.expect("another body", w.book(key, newOrder("11:30", nil), header, "k1"), 422, "idempotency_mismatch")
	w.expectRows(1)
}

// TestRetryWithoutCatalogGetsStoredAnswer shows how idempotency keys work while catalog is unavailable. A key
// with a booking returns that booking. Any other key is refused (semantics.md §3, §7).
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
	w.expect("another key", w.book(key, newOrder("13:30", nil), header, "k2"), 503, "availability_unverified")
	w.expectRows(2)
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
