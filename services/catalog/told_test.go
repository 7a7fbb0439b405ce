package catalog

import (
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
)

// When a change is answered, booking knows that what was offered before is none any more.
func TestBookingHearsOfEachChangeBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.mustPublish(harborYAML)
	path := h.told(1)
	for newest, change := range []func() error{
		func() error { _, err := h.owner.Publish(t.Context(), "harbor", []byte(harborYAML), "", ""); return err },
		func() error { _, err := h.owner.Rollback(t.Context(), "harbor", 1, ""); return err },
		// of which version 4 will be another business's
		func() error { return h.owner.Delete(t.Context(), "harbor", firstOf("harbor")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if again := h.told(int64(newest + 2)); again != path {
			t.Errorf("told of %s, and before of %s", again, path)
		}
	}
}

// told is the path at which booking was told of a version; the test fails where it was not.
func (h *harness) told(version int64) string {
	h.t.Helper()
	var at string
	h.sales.offers.Range(func(path, newest any) bool {
		if newest != version {
			h.t.Errorf("%s is told of version %v, want %d", path, newest, version)
		}
		at = path.(string)
		return true
	})
	if at == "" {
		h.t.Fatalf("booking was not told of version %d", version)
	}
	return at
}

// TestAPublishThatBookingHasNotHeardOfIsNotAcknowledged publishes while booking is unavailable. The answer names that
// the version is published but unknown to booking. A repeated request gets the usual answer.
func TestAPublishThatBookingHasNotHeardOfIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	h := start(t, impatient)
	h.mustPublish(harborYAML)
	h.sales.deaf.Store(true)
	a := h.publish(harborYAML, idempotency.Header, "one")
	if a.status != http.StatusServiceUnavailable || a.json(t)["messageCode"] != "outcome_unknown" ||
		a.header.Get("Retry-After") == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	h.told(1)
	h.sales.deaf.Store(false)
	if a := h.publish(harborYAML, idempotency.Header, "one"); a.status != http.StatusOK ||
		a.json(t)["version"] != float64(2) {
		t.Errorf("repeated: %d %s", a.status, a.body)
	}
	h.told(2)
}
