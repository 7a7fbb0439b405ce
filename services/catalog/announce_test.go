package catalog

import (
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
)

// TestChangesAreAnnouncedToBooking shows that booking knows the new version when a change is answered. So
// booking no longer accepts requests for the old version.
func TestChangesAreAnnouncedToBooking(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	path := h.wantAnnounced(1)
	for newest, change := range []func() error{
		func() error { _, err := h.owner.Publish(t.Context(), "harbor", []byte(harborYAML), "", ""); return err },
		func() error { _, err := h.owner.Rollback(t.Context(), "harbor", 1, ""); return err },
		// The deletion sends version 4, which is the first version of the next business with this slug.
		func() error { return h.owner.Delete(t.Context(), "harbor", derivedID("harbor")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if announced := h.wantAnnounced(int64(newest + 2)); announced != path {
			t.Errorf("the path of the announcement is %s, want %s", announced, path)
		}
	}
}

// wantAnnounced returns the path at which booking received a version. It fails the test if booking did not receive that
// version.
func (h *harness) wantAnnounced(version int64) string {
	h.t.Helper()
	var at string
	h.sales.versions.Range(func(path, announced any) bool {
		if announced != version {
			h.t.Errorf("%s announces version %v, want %d", path, announced, version)
		}
		at = path.(string)
		return true
	})
	if at == "" {
		h.t.Fatalf("version %d was not announced to booking", version)
	}
	return at
}

// TestPublishReportsUnknownOutcomeIfBookingRejects publishes while booking refuses new versions. The answer is
// outcome_unknown: the version is published, but booking does not know it. A repeated request with the same key gets
// the usual answer.
func TestPublishReportsUnknownOutcomeIfBookingRejects(t *testing.T) {
	t.Parallel()
	h := newHarness(t, shortenTimeouts)
	h.mustPublish(harborYAML)
	h.sales.rejectsVersions.Store(true)
	a := h.publish(harborYAML, idempotency.Header, "one")
	if a.status != http.StatusServiceUnavailable || a.json(t)["messageCode"] != "outcome_unknown" ||
		a.header.Get("Retry-After") == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	h.wantAnnounced(1)
	h.sales.rejectsVersions.Store(false)
	if a := h.publish(harborYAML, idempotency.Header, "one"); a.status != http.StatusOK ||
		a.json(t)["version"] != float64(2) {
		t.Errorf("repeated: %d %s", a.status, a.body)
	}
	h.wantAnnounced(2)
}
