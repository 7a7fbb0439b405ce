package reconcile_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

func TestBusinessesPublishEachChangeOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(newBusiness("harbor", `, "social_links": {"site": "https://harbor.example/?a=1&b=2"}`))
	b := w.expectBusiness("harbor", "Published", 1)
	if b.Status.Slug != "harbor" || b.Status.ObservedGeneration != 1 || !strings.Contains(w.drainEvents(),
		"Version 1 of harbor is published") {
		t.Errorf("%+v", b.Status)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(w.versionsOf("harbor")[0]), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "slotmesh/v1", "kind": "Business", "slug": "harbor", "name": "Harbor", "currency": "EUR",
		"timezone":         "Europe/Lisbon",
		"default_language": "en", "languages": []any{"en"},
		"social_links": map[string]any{"site": "https://harbor.example/?a=1&b=2"},
		"managed_by":   "Kubernetes: shop/harbor",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w.expectBusiness("harbor", "Published", 1) // no change, so no new version
	b.Spec = newBusiness("", `, "managed_by": "github.com/harbor/offer"`).Spec
	w.update(b)
	w.expectBusiness("harbor", "Published", 2)
	// a rollback outside the operator
	w.lockAndChange(func() { w.versions["harbor"] = append(w.versions["harbor"], w.versions["harbor"][0]) })
	w.expectBusiness("harbor", "Published", 4)
	if versions := w.versionsOf("harbor"); versions[3] != versions[1] || !strings.Contains(versions[0], "?a=1&b=2") ||
		!strings.Contains(versions[3], "github.com/harbor/offer") {
		t.Errorf("version 4 is %s", versions[3])
	}
}

func TestBusinessesRecordProblemsByPath(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	b := newBusiness("harbor", "")
	w.create(b)
	b = w.expectBusiness("harbor", "Published", 1)
	good := b.Spec
	b.Spec = json.RawMessage(strings.Replace(string(good), "Europe/Lisbon", "Europe/Lisboa", 1))
	w.update(b)
	b = w.expectBusiness("harbor", "Invalid", 1)
	if len(b.Status.Problems) != 1 || b.Status.Problems[0].Path != "timezone" || b.Status.ObservedGeneration != 2 ||
		!strings.Contains(w.drainEvents(), "Warning Invalid") {
		t.Errorf("%+v", b.Status)
	}
	b.Spec = good
	w.update(b)
	if b = w.expectBusiness("harbor", "Published", 1); b.Status.Problems != nil {
		t.Errorf("%+v", b.Status)
	}
}

func TestBusinessesKeepForeignVersionUnlessAdopted(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.lockAndChange(func() { w.versions["harbor"] = []string{`{"name": "Another"}`} })
	w.create(newBusiness("harbor", ""))
	b := w.expectBusiness("harbor", "Conflict", 0)
	w.delete(b)
	if b, _, err := w.reconcileBusiness("harbor"); b != nil || err != nil || len(w.versionsOf("harbor")) != 1 {
		t.Fatalf("the deleted object: %v, %v; published versions: %q", b, err, w.versionsOf("harbor"))
	}
	adopting := newBusiness("harbor", "")
	adopting.Annotations = map[string]string{v1.AdoptAnnotation: "true"}
	w.create(adopting)
	w.expectBusiness("harbor", "Published", 2)
}

func TestBusinessesPublishOlderObjectOfSlug(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(newBusiness("first", `, "slug": "harbor"`))
	later := newBusiness("a-second", `, "slug": "harbor", "managed_by": "Kubernetes: shop/first"`)
	later.CreationTimestamp = metav1.NewTime(w.clock.Now().Add(time.Second))
	w.create(later)
	w.expectBusiness("first", "Published", 1)
	second := w.expectBusiness("a-second", "Conflict", 0)
	w.delete(second)
	if b, _, err := w.reconcileBusiness("a-second"); b != nil || err != nil || len(w.versionsOf("harbor")) != 1 {
		t.Errorf("the second object: %v, %v; published versions: %q", b, err, w.versionsOf("harbor"))
	}
}

func TestBusinessesKeepDeletedBusinessWithFutureBookings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.lockAndChange(func() { w.hasBookings = true })
	w.create(newBusiness("harbor", ""))
	w.delete(w.expectBusiness("harbor", "Published", 1))
	w.drainEvents()
	b := w.expectBusiness("harbor", "BookingsAhead", 1)
	if events := w.drainEvents(); !strings.Contains(events,
		"bookings (1) lie ahead; cancel them first, or annotate this object with slotmesh.io/deletion=force.") {
		t.Errorf("got the events %q", events)
	}
	w.expectBusiness("harbor", "BookingsAhead", 1)
	if events := w.drainEvents(); events != "" {
		t.Errorf("the second reconciliation records events: %q", events)
	}
	b.Annotations = map[string]string{v1.DeletionAnnotation: v1.DeletionForce}
	if err := w.objects.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if b, _, err := w.reconcileBusiness("harbor"); b != nil || err != nil || w.versionsOf("harbor") != nil {
		t.Errorf("the object: %v, %v; published versions: %q", b, err, w.versionsOf("harbor"))
	}
}

func TestBusinessesAdoptRetainedBusinessAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	b := newBusiness("harbor", "")
	b.Annotations = map[string]string{v1.DeletionAnnotation: v1.DeletionRetain}
	w.create(b)
	w.delete(w.expectBusiness("harbor", "Published", 1))
	if b, _, err := w.reconcileBusiness("harbor"); b != nil || err != nil || len(w.versionsOf("harbor")) != 1 {
		t.Fatalf("the object: %v, %v; published versions: %q", b, err, w.versionsOf("harbor"))
	}
	w.create(newBusiness("harbor", `, "modules": {"events": false}`))
	w.expectBusiness("harbor", "Published", 2)
}

func TestBusinessesRetryUnavailableAdminAPI(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(newBusiness("harbor", ""))
	w.expectBusiness("harbor", "Published", 1)
	w.lockAndChange(func() { w.isUnavailable = true })
	for range 2 {
		b, _, err := w.reconcileBusiness("harbor")
		ready := meta.FindStatusCondition(b.Status.Conditions, v1.ReadyCondition)
		if err == nil || ready.Status != metav1.ConditionUnknown || ready.Reason != "Unreachable" ||
			b.Status.Version != 1 {
			t.Errorf("%+v, %v", b.Status, err)
		}
	}
	if count := strings.Count(w.drainEvents(), "Unreachable"); count != 1 {
		t.Errorf("got %d events, want 1", count)
	}
	w.lockAndChange(func() { w.isUnavailable = false })
	w.expectBusiness("harbor", "Published", 1)
}
