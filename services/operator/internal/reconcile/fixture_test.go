package reconcile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/operator/internal/admin"
	"github.com/slotmesh/slotmesh/services/operator/internal/reconcile"
	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

const resync = 10 * time.Minute

// fixture connects the reconcilers with a fake Kubernetes API and a fake admin API.
type fixture struct {
	*fakeAdminAPI
	t          *testing.T
	objects    client.Client
	events     *events.FakeRecorder
	clock      *clock.Manual
	businesses *reconcile.Businesses
	keys       *reconcile.APIKeys
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := &fixture{
		t: t, fakeAdminAPI: &fakeAdminAPI{versions: map[string][]string{},
			clock: clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))},
		objects: fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1.Business{}, &v1.APIKey{}).Build(),
		events:  events.NewFakeRecorder(100),
	}
	w.clock = w.fakeAdminAPI.clock
	server := httptest.NewServer(w.fakeAdminAPI)
	t.Cleanup(server.Close)
	api := admin.New(server.URL, "token", time.Minute)
	t.Cleanup(api.Close)
	log := slog.New(slog.DiscardHandler)
	w.businesses = &reconcile.Businesses{Client: w.objects, Events: w.events, Admin: api, Log: log, Resync: resync}
	w.keys = &reconcile.APIKeys{Client: w.objects, Secrets: w.objects, Events: w.events, Admin: api, Clock: w.clock,
		Log: log, Resync: resync}
	return w
}

// create stores an object with the metadata that the API server would set.
func (w *fixture) create(o client.Object) {
	w.t.Helper()
	o.SetNamespace("shop")
	o.SetUID(types.UID(uuid.NewString()))
	o.SetGeneration(1)
	if o.GetCreationTimestamp() == (metav1.Time{}) {
		o.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
	}
	if err := w.objects.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// newBusiness returns a Business with this name. The argument members is JSON that is added to its
// spec.
func newBusiness(name string, members string) *v1.Business {
	b := &v1.Business{Spec: json.RawMessage(`{"name": "Harbor", "currency": "EUR", "timezone": "Europe/Lisbon", "default_language": "en", "languages": ["en"]` + members + `}`)}
	b.Name = name
	return b
}

// reconcileBusiness reconciles a Business once and returns the object afterwards, or nil if it no
// longer exists.
func (w *fixture) reconcileBusiness(name string) (*v1.Business, ctrl.Result, error) {
	w.t.Helper()
	key := client.ObjectKey{Namespace: "shop", Name: name}
	result, reconcileErr := w.businesses.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	var b v1.Business
	err := w.objects.Get(w.t.Context(), key, &b)
	if apierrors.IsNotFound(err) {
		return nil, result, reconcileErr
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return &b, result, reconcileErr
}

// expectBusiness reconciles a Business once. It checks the reason of the condition Ready and the
// published version, and returns the object.
func (w *fixture) expectBusiness(name, reason string, version int64) *v1.Business {
	w.t.Helper()
	b, result, err := w.reconcileBusiness(name)
	if err != nil || result.RequeueAfter != resync {
		w.t.Fatalf("%s: got a retry after %s, %v", name, result.RequeueAfter, err)
	}
	ready := meta.FindStatusCondition(b.Status.Conditions, v1.ReadyCondition)
	if ready == nil || ready.Reason != reason || b.Status.Version != version ||
		ready.ObservedGeneration != b.Generation {
		w.t.Fatalf("%s: %+v, want %s at version %d", name, b.Status, reason, version)
	}
	return b
}

// update stores a changed spec or changed annotations, with a new generation.
func (w *fixture) update(o client.Object) {
	w.t.Helper()
	o.SetGeneration(o.GetGeneration() + 1)
	if err := w.objects.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) delete(o client.Object) {
	w.t.Helper()
	if err := w.objects.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// drainEvents returns the events since the last call, one per line.
func (w *fixture) drainEvents() string {
	var received []string
	for {
		select {
		case e := <-w.events.Events:
			received = append(received, e)
		default:
			return strings.Join(received, "\n")
		}
	}
}

// fakeAdminAPI is an admin API in memory. It checks manifests as catalog does.
type fakeAdminAPI struct {
	mu            sync.Mutex
	clock         *clock.Manual
	versions      map[string][]string // manifests, oldest first
	hasBookings   bool                // a business with future bookings is removed only with force
	isUnavailable bool                // answers 503
	keys          []admin.Key
}

func (a *fakeAdminAPI) lockAndChange(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *fakeAdminAPI) versionsOf(slug string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.versions[slug]
}

// validKeys returns the keys that are not revoked.
func (a *fakeAdminAPI) validKeys() []admin.Key {
	a.mu.Lock()
	defer a.mu.Unlock()
	var valid []admin.Key
	for _, key := range a.keys {
		if key.RevokedAt == nil {
			valid = append(valid, key)
		}
	}
	return valid
}

func (a *fakeAdminAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/admin/businesses/"), "/")
	var value any
	err := error(fault.New(fault.PeerUnavailable, "catalog does not answer."))
	switch {
	case a.isUnavailable:
	case r.Header.Get("Authorization") != "Bearer token", r.Method != "GET" && r.Header.Get("Idempotency-Key") == "":
		err = fault.New(fault.Unauthorized, "Unauthorized.")
	case r.Method == "PUT":
		value, err = a.publish(parts[0], r)
	case a.versions[parts[0]] == nil:
		err = fault.New(fault.BusinessNotFound, "Business not found")
	case len(parts) > 1:
		value, err = a.answerKeys(parts, r)
	case r.Method == "DELETE" && a.hasBookings && r.URL.Query().Get("force") != "true":
		err = fault.New(fault.Conflict,
			"Customers are expected: bookings (1) lie ahead; cancel them first, or remove it with force=true.")
	case r.Method == "DELETE":
		delete(a.versions, parts[0])
		err = nil
	default:
		versions := a.versions[parts[0]]
		w.Header().Set("ETag", strconv.Quote(strconv.Itoa(len(versions))))
		value, err = json.RawMessage(versions[len(versions)-1]), nil
	}
	if err != nil {
		w.WriteHeader(fault.Of(err).Kind.Status)
		_, _ = w.Write(fault.Of(err).Body())
		return
	}
	if text, isText := value.(json.RawMessage); isText {
		_, _ = w.Write(text)
		return
	}
	_ = json.NewEncoder(w).Encode(value)
}

func (a *fakeAdminAPI) publish(slug string, r *http.Request) (any, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if _, problems := manifest.Parse(text); len(problems) > 0 {
		return nil, &fault.Error{Kind: fault.InvalidParameter, Sentence: "The manifest has problems.",
			Extra: map[string]any{"problems": problems}}
	}
	if expectedVersion := r.Header.Get("If-Match"); expectedVersion != "" &&
		expectedVersion != strconv.Quote(strconv.Itoa(len(a.versions[slug]))) {
		return nil, fault.New(fault.PreconditionFailed, "There is a newer version.")
	}
	a.versions[slug] = append(a.versions[slug], string(text))
	return map[string]any{"version": len(a.versions[slug])}, nil
}

func (a *fakeAdminAPI) answerKeys(parts []string, r *http.Request) (any, error) {
	switch r.Method {
	case "POST":
		var key admin.Key
		if err := json.NewDecoder(r.Body).Decode(&key); err != nil {
			return nil, err
		}
		if len(key.Name) > 100 {
			return nil, fault.New(fault.InvalidParameter, "name: too long")
		}
		key.ID, key.CreatedAt, key.Prefix = uuid.New(), a.clock.Now(), fmt.Sprintf("sm_%d", len(a.keys)+1)
		a.keys = append(a.keys, key)
		key.Secret = key.Prefix + "secret"
		return key, nil
	case "DELETE":
		for i := range a.keys {
			if a.keys[i].ID.String() == parts[2] {
				at := a.clock.Now()
				a.keys[i].RevokedAt = &at
				return nil, nil
			}
		}
		return nil, fault.New(fault.NotFound, "Key not found")
	default:
		return map[string]any{"keys": a.keys}, nil
	}
}
