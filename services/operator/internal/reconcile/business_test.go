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

func TestABusinessIsPublishedOnceForEachChange(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.create(business("harbor", `, "social_links": {"site": "https://harbor.example/?a=1&b=2"}`))
	b := w.expect("harbor", "Published", 1)
	if b.Status.Slug != "harbor" || b.Status.ObservedGeneration != 1 || !strings.Contains(w.told(),
		"Version 1 of harbor is published") {
		t.Errorf("%+v", b.Status)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(w.published("harbor")[0]), &got); err != nil {
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
	w.expect("harbor", "Published", 1) // nothing was changed
	b.Spec = business("", `, "managed_by": "github.com/harbor/offer"`).Spec
	w.change(b)
	w.expect("harbor", "Published", 2)
	// somebody rolled it back
	w.set(func() { w.versions["harbor"] = append(w.versions["harbor"], w.versions["harbor"][0]) })
	w.expect("harbor", "Published", 4)
	if all := w.published("harbor"); all[3] != all[1] || !strings.Contains(all[0], "?a=1&b=2") ||
		!strings.Contains(all[3], "github.com/harbor/offer") {
		t.Errorf("version 4 is %s", all[3])
	}
}

func TestProblemsAreInTheStatusByPath(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := business("harbor", "")
	w.create(b)
	b = w.expect("harbor", "Published", 1)
	good := b.Spec
	b.Spec = json.RawMessage(strings.Replace(string(good), "Europe/Lisbon", "Europe/Lisboa", 1))
	w.change(b)
	b = w.expect("harbor", "Invalid", 1)
	if len(b.Status.Problems) != 1 || b.Status.Problems[0].Path != "timezone" || b.Status.ObservedGeneration != 2 ||
		!strings.Contains(w.told(), "Warning Invalid") {
		t.Errorf("%+v", b.Status)
	}
	b.Spec = good
	w.change(b)
	if b = w.expect("harbor", "Published", 1); b.Status.Problems != nil {
		t.Errorf("%+v", b.Status)
	}
}

func TestWhatWasPublishedElsewhereIsLeftAloneUnlessItIsAdopted(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.set(func() { w.versions["harbor"] = []string{`{"name": "Another"}`} })
	w.create(business("harbor", ""))
	b := w.expect("harbor", "Conflict", 0)
	w.delete(b)
	if b, _, err := w.look("harbor"); b != nil || err != nil || len(w.published("harbor")) != 1 {
		t.Fatalf("the deleted object: %v, %v; what is published: %q", b, err, w.published("harbor"))
	}
	adopting := business("harbor", "")
	adopting.Annotations = map[string]string{v1.Adopt: "true"}
	w.create(adopting)
	w.expect("harbor", "Published", 2)
}

func TestOfTwoObjectsWithOneSlugTheOlderIsPublished(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.create(business("first", `, "slug": "harbor"`))
	later := business("a-second", `, "slug": "harbor", "managed_by": "Kubernetes: shop/first"`)
	later.CreationTimestamp = metav1.NewTime(w.clock.Now().Add(time.Second))
	w.create(later)
	w.expect("first", "Published", 1)
	second := w.expect("a-second", "Conflict", 0)
	w.delete(second)
	if b, _, err := w.look("a-second"); b != nil || err != nil || len(w.published("harbor")) != 1 {
		t.Errorf("the second: %v, %v; what is published: %q", b, err, w.published("harbor"))
	}
}

func TestADeletedBusinessWaitsForTheCustomersThatAreExpected(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.set(func() { w.expected = true })
	w.create(business("harbor", ""))
	w.delete(w.expect("harbor", "Published", 1))
	w.told()
	b := w.expect("harbor", "BookingsAhead", 1)
	if said := w.told(); !strings.Contains(said,
		"bookings (1) lie ahead; cancel them first, or annotate this object with slotmesh.io/deletion=force.") {
		t.Errorf("it is told: %q", said)
	}
	w.expect("harbor", "BookingsAhead", 1)
	if said := w.told(); said != "" {
		t.Errorf("it is told twice: %q", said)
	}
	b.Annotations = map[string]string{v1.Deletion: v1.DeletionForce}
	if err := w.objects.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if b, _, err := w.look("harbor"); b != nil || err != nil || w.published("harbor") != nil {
		t.Errorf("the object: %v, %v; what is published: %q", b, err, w.published("harbor"))
	}
}

func TestARetainedBusinessStaysPublishedAndIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := business("harbor", "")
	b.Annotations = map[string]string{v1.Deletion: v1.DeletionRetain}
	w.create(b)
	w.delete(w.expect("harbor", "Published", 1))
	if b, _, err := w.look("harbor"); b != nil || err != nil || len(w.published("harbor")) != 1 {
		t.Fatalf("the object: %v, %v; what is published: %q", b, err, w.published("harbor"))
	}
	w.create(business("harbor", `, "modules": {"events": false}`))
	w.expect("harbor", "Published", 2)
}

func TestAnAdminAPIThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.create(business("harbor", ""))
	w.expect("harbor", "Published", 1)
	w.set(func() { w.away = true })
	for range 2 {
		b, _, err := w.look("harbor")
		ready := meta.FindStatusCondition(b.Status.Conditions, v1.Ready)
		if err == nil || ready.Status != metav1.ConditionUnknown || ready.Reason != "Unreachable" ||
			b.Status.Version != 1 {
			t.Errorf("%+v, %v", b.Status, err)
		}
	}
	if said := strings.Count(w.told(), "Unreachable"); said != 1 {
		t.Errorf("it is told %d times", said)
	}
	w.set(func() { w.away = false })
	w.expect("harbor", "Published", 1)
}
