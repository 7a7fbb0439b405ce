package reconcile_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

// newAPIKey returns an APIKey object of the business harbor.
func newAPIKey(name string) *v1.APIKey {
	k := &v1.APIKey{Spec: v1.APIKeySpec{
		Business: "harbor", Scope: "write",
		RotateEvery: &metav1.Duration{Duration: 24 * time.Hour}, GracePeriod: metav1.Duration{Duration: time.Hour},
	}}
	k.Name = name
	return k
}

// expectKey reconciles an APIKey once. It checks the reason of the condition Ready and the time until
// the next reconciliation, and returns the object.
func (w *fixture) expectKey(name, reason string, next time.Duration) *v1.APIKey {
	w.t.Helper()
	key := client.ObjectKey{Namespace: "shop", Name: name}
	result, err := w.keys.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	var k v1.APIKey
	if err := w.objects.Get(w.t.Context(), key, &k); err != nil {
		w.t.Fatal(err)
	}
	ready := meta.FindStatusCondition(k.Status.Conditions, v1.ReadyCondition)
	if err != nil || ready == nil || ready.Reason != reason || result.RequeueAfter != next {
		w.t.Fatalf("%s: %+v after %s, %v; want %s after %s", name, k.Status, result.RequeueAfter, err, reason, next)
	}
	return &k
}

// readKey returns the key in a Secret, or "" if the Secret does not exist.
func (w *fixture) readKey(name string) string {
	w.t.Helper()
	var s corev1.Secret
	err := w.objects.Get(w.t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, &s)
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if string(s.Data["slug"]) != "harbor" {
		w.t.Errorf("the Secret names the business %q", s.Data["slug"])
	}
	return string(s.Data["key"])
}

func (w *fixture) expectSecret(secret, key string, live int) {
	w.t.Helper()
	if got := w.readKey(secret); got != key || len(w.validKeys()) != live {
		w.t.Fatalf("the Secret contains %q, and %d keys are valid; want %q and %d", got, len(w.validKeys()), key, live)
	}
}

func TestAPIKeysRevokeReplacedKeyAfterGracePeriod(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(newAPIKey("website"))
	w.expectKey("website", "NoBusiness", resync)
	w.create(newBusiness("harbor", ""))
	w.expectBusiness("harbor", "Published", 1)
	k := w.expectKey("website", "Ready", resync)
	if k.Status.Prefix != "sm_1" || !k.Status.RotatesAt.Time.Equal(w.clock.Now().Add(24*time.Hour)) {
		t.Errorf("%+v", k.Status)
	}
	w.expectSecret("website", "sm_1secret", 1)
	w.clock.Advance(24*time.Hour - time.Second)
	w.expectKey("website", "Ready", time.Second)
	w.expectSecret("website", "sm_1secret", 1)
	w.clock.Advance(time.Second)
	if k := w.expectKey("website", "Ready", resync); k.Status.Replaced != 1 {
		t.Errorf("%+v", k.Status)
	}
	w.expectSecret("website", "sm_2secret", 2)
	w.clock.Advance(time.Hour - time.Second)
	w.expectKey("website", "Ready", time.Second)
	w.expectSecret("website", "sm_2secret", 2)
	w.clock.Advance(time.Second)
	if k := w.expectKey("website", "Ready", resync); k.Status.Replaced != 0 {
		t.Errorf("%+v", k.Status)
	}
	w.expectSecret("website", "sm_2secret", 1)
}

func TestAPIKeysReplaceUnusableKey(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(newBusiness("harbor", ""))
	w.expectBusiness("harbor", "Published", 1)
	w.create(newAPIKey("website"))
	k := w.expectKey("website", "Ready", resync)
	if err := w.objects.Delete(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "website"}}); err != nil {
		t.Fatal(err)
	}
	w.expectKey("website", "Ready", resync)
	w.expectSecret("website", "sm_2secret", 2)
	now := w.clock.Now()
	w.lockAndChange(func() { w.fakeAdminAPI.keys[1].RevokedAt = &now })
	w.expectKey("website", "Ready", resync)
	w.expectSecret("website", "sm_3secret", 2)
	if err := w.objects.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	k.Spec.Scope = "read"
	w.update(k)
	w.expectKey("website", "Ready", resync)
	w.expectSecret("website", "sm_4secret", 3)
	if valid := w.validKeys(); valid[2].Scope != "read" {
		t.Errorf("%+v", valid)
	}
}

func TestAPIKeysRevokeDeletedKeyAndKeepForeignSecret(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(newBusiness("harbor", ""))
	w.expectBusiness("harbor", "Published", 1)
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "taken"},
		Data: map[string][]byte{"slug": []byte("harbor"), "key": []byte("another's")}})
	w.create(newAPIKey("taken"))
	w.expectKey("taken", "Conflict", resync)
	w.expectSecret("taken", "another's", 0)
	w.create(newAPIKey("website"))
	w.delete(w.expectKey("website", "Ready", resync))
	w.expectSecret("website", "sm_1secret", 1)
	if _, err := w.keys.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "shop",
		Name: "website"}}); err != nil || len(w.validKeys()) != 0 {
		t.Errorf("%v; %d keys work", err, len(w.validKeys()))
	}
}
