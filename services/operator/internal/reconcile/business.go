// Package reconcile brings Slotmesh into the state that the custom resources describe. [Businesses]
// publishes manifests, and [APIKeys] stores API keys in Secrets. Each reconciliation reads the whole state
// from the objects and from the admin API again. An interrupted reconciliation can therefore be repeated.
package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/operator/internal/admin"
	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

// Reasons of the condition [v1.ReadyCondition].
const (
	reasonPublished     = "Published"
	reasonInvalid       = "Invalid"       // the manifest has problems
	reasonConflict      = "Conflict"      // the name of the business or of the Secret is used by another owner
	reasonRefused       = "Refused"       // the admin API refused the request for a reason that has no other constant
	reasonUnreachable   = "Unreachable"   // the admin API did not answer, or could not handle the request
	reasonBookingsAhead = "BookingsAhead" // the object is deleted, but its business has future bookings
)

// verdict is the status, the reason and the message of a condition.
type verdict struct {
	status           metav1.ConditionStatus
	reason, sentence string
}

// condition returns `v` as the condition [v1.ReadyCondition] for the given generation of the object.
func (v verdict) condition(generation int64) metav1.Condition {
	return metav1.Condition{Type: v1.ReadyCondition, Status: v.status, Reason: v.reason, Message: v.sentence,
		ObservedGeneration: generation}
}

// newVerdict returns the verdict for an error of the admin API. For a fault with a status below 500,
// the reason is Refused. For any other error, the reason is Unreachable and the status is Unknown.
func newVerdict(err error) verdict {
	var refusal *fault.Error
	if errors.As(err, &refusal) && refusal.Kind.Status < http.StatusInternalServerError && refusal.Kind.Code != "" {
		return verdict{metav1.ConditionFalse, reasonRefused, "The admin API refuses: " + refusal.Sentence}
	}
	return verdict{metav1.ConditionUnknown, reasonUnreachable,
		"The admin API does not answer, or cannot do this now; it is tried again."}
}

// Businesses publishes the manifests in Business objects.
type Businesses struct {
	Client client.Client
	Events events.EventRecorder
	Admin  *admin.Client
	Log    *slog.Logger
	// Resync is the time after which an unchanged object is compared with the published version again.
	Resync time.Duration
}

// Reconcile publishes the manifest of one Business object. If the object is being deleted,
// Reconcile removes the business. After an error, the controller retries with backoff.
func (r *Businesses) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var b v1.Business
	if err := r.Client.Get(ctx, request.NamespacedName, &b); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	desired, err := buildManifest(&b)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !b.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, &b, desired)
	}
	if controllerutil.AddFinalizer(&b, v1.Finalizer) {
		if err := r.Client.Update(ctx, &b); err != nil {
			return ctrl.Result{}, err
		}
	}
	oldStatus := b.Status
	oldStatus.Conditions = slices.Clone(oldStatus.Conditions)
	publishErr := r.publish(ctx, &b, desired)
	b.Status.ObservedGeneration = b.Generation
	if !equality.Semantic.DeepEqual(oldStatus, b.Status) {
		if err := r.Client.Status().Update(ctx, &b); err != nil {
			return ctrl.Result{}, errors.Join(publishErr, err)
		}
	}
	return ctrl.Result{RequeueAfter: r.Resync}, publishErr
}

// desiredManifest is the manifest that a Business object describes.
type desiredManifest struct {
	slug      string
	managedBy string
	text      []byte
}

// buildManifest returns the manifest in the spec of an object. The default of slug is the name
// of the object. The default of managed_by contains the namespace and the name of the object.
// With managed_by, the pages for owners do not allow changes, which the operator would revert.
func buildManifest(b *v1.Business) (*desiredManifest, error) {
	decoder := json.NewDecoder(bytes.NewReader(b.Spec))
	decoder.UseNumber() // keep prices as they are written
	members := map[string]any{}
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("the spec is no object: %w", err)
	}
	d := &desiredManifest{slug: b.Name, managedBy: "Kubernetes: " + b.Namespace + "/" + b.Name}
	if slug, _ := members["slug"].(string); slug != "" {
		d.slug = slug
	}
	if managedBy, _ := members["managed_by"].(string); managedBy != "" {
		d.managedBy = managedBy
	}
	if len(d.managedBy) > maxManagedBy {
		d.managedBy = d.managedBy[:maxManagedBy]
	}
	members["apiVersion"], members["kind"], members["slug"], members["managed_by"] = "slotmesh/v1", "Business", d.slug,
		d.managedBy
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, err
	}
	d.text = text.Bytes()
	return d, nil
}

// maxManagedBy is the maximum length of managed_by in a manifest, in bytes. The operator writes the namespace and the
// name of an object into managed_by. These are ASCII, so that bytes equal characters.
const maxManagedBy = 200

// publish publishes the desired manifest unless it equals the newest version. It
// records the result in the status. It returns an error only if a retry may help.
func (r *Businesses) publish(ctx context.Context, b *v1.Business, desired *desiredManifest) error {
	other, err := r.findPriorObject(ctx, b, desired.slug)
	if err != nil {
		return err
	}
	if other != "" {
		r.setCondition(b, verdict{metav1.ConditionFalse, reasonConflict,
			fmt.Sprintf("%s is the business of %s; give it another slug, or delete one of the two.", desired.slug,
				other)})
		return nil
	}
	newest, err := r.Admin.ReadNewest(ctx, desired.slug)
	if fault.Is(err, fault.BusinessNotFound) {
		newest, err = &admin.Published{}, nil
	}
	if err != nil {
		return r.recordFailure(ctx, b, err)
	}
	if bytes.Equal(newest.Text, desired.text) {
		r.recordPublished(b, desired.slug, newest.Version)
		return nil
	}
	if newest.Version != 0 && !mayReplace(b, newest, desired) {
		r.setCondition(b, verdict{metav1.ConditionFalse, reasonConflict, fmt.Sprintf(
			"%s was published elsewhere; annotate this object with %s=true to take it over.", desired.slug,
			v1.AdoptAnnotation)})
		return nil
	}
	version, err := r.Admin.Publish(ctx, desired.slug, desired.text, newest.Version)
	if err != nil {
		return r.recordFailure(ctx, b, err)
	}
	r.Events.Eventf(b, nil, corev1.EventTypeNormal, reasonPublished, "Publish", "Version %d of %s is published.",
		version, desired.slug)
	r.Log.InfoContext(ctx, "published a business", "namespace", b.Namespace, "name", b.Name, "slug", desired.slug,
		"version", version)
	r.recordPublished(b, desired.slug, version)
	return nil
}

// findPriorObject returns the name of another object with the same slug that has priority over `b`. It returns "" if no
// other object has priority. The older object has priority. If two objects were created in the same second, the first
// by name has priority.
func (r *Businesses) findPriorObject(ctx context.Context, b *v1.Business, slug string) (string, error) {
	var businesses v1.BusinessList
	if err := r.Client.List(ctx, &businesses); err != nil {
		return "", err
	}
	for i := range businesses.Items {
		other := &businesses.Items[i]
		if other.UID == b.UID || findSlug(other) != slug {
			continue
		}
		if other.CreationTimestamp.Before(&b.CreationTimestamp) ||
			other.CreationTimestamp.Equal(&b.CreationTimestamp) &&
				client.ObjectKeyFromObject(other).String() < client.ObjectKeyFromObject(b).String() {
			return client.ObjectKeyFromObject(other).String(), nil
		}
	}
	return "", nil
}

func findSlug(b *v1.Business) string {
	var fields struct {
		Slug string `json:"slug"`
	}
	if json.Unmarshal(b.Spec, &fields) == nil && fields.Slug != "" {
		return fields.Slug
	}
	return b.Name
}

// mayReplace reports whether the object `b` may replace the newest version of the business. One of these conditions
// must be true: the object has published a version before, it has the annotation [v1.AdoptAnnotation], or its
// managed_by equals the managed_by of the newest version.
func mayReplace(b *v1.Business, newest *admin.Published, desired *desiredManifest) bool {
	return b.Status.Slug == desired.slug && b.Status.Version > 0 || b.Annotations[v1.AdoptAnnotation] == "true" ||
		readManagedBy(newest) == desired.managedBy
}

// readManagedBy returns the field managed_by of a published manifest.
func readManagedBy(p *admin.Published) string {
	var fields struct {
		ManagedBy string `json:"managed_by"`
	}
	_ = json.Unmarshal(p.Text, &fields) // the text is JSON, because Newest requests JSON
	return fields.ManagedBy
}

// finalize removes the business of a deleted object, if the business belongs to this
// object. It then removes the finalizer, so that Kubernetes deletes the object.
func (r *Businesses) finalize(ctx context.Context, b *v1.Business, desired *desiredManifest) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(b, v1.Finalizer) {
		return ctrl.Result{}, nil
	}
	if b.Annotations[v1.DeletionAnnotation] != v1.DeletionRetain {
		if mustWait, err := r.removeBusiness(ctx, b, desired); mustWait || err != nil {
			return ctrl.Result{RequeueAfter: r.Resync}, err
		}
	}
	controllerutil.RemoveFinalizer(b, v1.Finalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Client.Update(ctx, b))
}

// removeBusiness removes the business from Slotmesh, unless the business belongs to another
// owner. removeBusiness returns true if the business must stay because of future bookings.
func (r *Businesses) removeBusiness(ctx context.Context, b *v1.Business, desired *desiredManifest) (bool, error) {
	other, err := r.findPriorObject(ctx, b, desired.slug)
	if err != nil || other != "" {
		return false, err
	}
	newest, err := r.Admin.ReadNewest(ctx, desired.slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return false, nil
	}
	if err != nil {
		return false, r.recordNotRemoved(ctx, b, err)
	}
	if readManagedBy(newest) != desired.managedBy && newest.Version != b.Status.Version {
		return false, nil // the business belongs to another owner
	}
	err = r.Admin.Remove(ctx, desired.slug, b.Annotations[v1.DeletionAnnotation] == v1.DeletionForce)
	switch {
	case fault.Is(err, fault.Conflict):
		sentence, _, _ := strings.Cut(fault.Of(err).Sentence, ";")
		sentence = fmt.Sprintf("%s is not removed. %s; cancel them first, or annotate this object with %s=%s.",
			desired.slug, sentence, v1.DeletionAnnotation, v1.DeletionForce)
		return true, r.recordNotDeleted(ctx, b, verdict{metav1.ConditionFalse, reasonBookingsAhead, sentence})
	case err != nil && !fault.Is(err, fault.BusinessNotFound):
		return false, r.recordNotRemoved(ctx, b, err)
	}
	r.Events.Eventf(b, nil, corev1.EventTypeNormal, "Removed", "Remove", "%s is removed.", desired.slug)
	r.Log.InfoContext(ctx, "removed a business", "namespace", b.Namespace, "name", b.Name, "slug", desired.slug)
	return false, nil
}

// recordNotRemoved records in the status why the business could not be
// removed. recordNotRemoved returns err, so that the controller retries.
func (r *Businesses) recordNotRemoved(ctx context.Context, b *v1.Business, err error) error {
	return errors.Join(err, r.recordNotDeleted(ctx, b, newVerdict(err)))
}

// recordNotDeleted records in the status why the deleted object still exists.
func (r *Businesses) recordNotDeleted(ctx context.Context, b *v1.Business, v verdict) error {
	if !r.setCondition(b, v) {
		return nil
	}
	return r.Client.Status().Update(ctx, b)
}

// recordPublished records in the status that the manifest in the spec is published with the given version number.
func (r *Businesses) recordPublished(b *v1.Business, slug string, version int64) {
	b.Status.Slug, b.Status.Version, b.Status.Problems = slug, version, nil
	r.setCondition(b, verdict{metav1.ConditionTrue, reasonPublished, fmt.Sprintf("Version %d is published.", version)})
}

// recordFailure records in the status why nothing was published. It returns err if a retry may help, and otherwise nil.
func (r *Businesses) recordFailure(ctx context.Context, b *v1.Business, err error) error {
	if problems := manifest.ProblemsOf(err); len(problems) > 0 {
		b.Status.Problems = nil
		for _, p := range problems[:min(len(problems), v1.MaxProblems)] {
			b.Status.Problems = append(b.Status.Problems, v1.Problem{Path: p.Path, Message: p.Message})
		}
		first := problems[0]
		r.setCondition(b, verdict{metav1.ConditionFalse, reasonInvalid,
			fmt.Sprintf("The manifest has problems (%d), the first: %s: %s", len(problems), first.Path, first.Message)})
		return nil
	}
	r.setCondition(b, newVerdict(err))
	if ctx.Err() == nil {
		r.Log.WarnContext(ctx, "publishing a business failed", "namespace", b.Namespace, "name", b.Name, "error", err)
	}
	return err
}

// setCondition sets the condition of the object to `v` and reports whether the condition changed. If it changed and its
// status is not True, setCondition also records a Kubernetes event.
func (r *Businesses) setCondition(b *v1.Business, v verdict) bool {
	isChanged := meta.SetStatusCondition(&b.Status.Conditions, v.condition(b.Generation))
	if isChanged && v.status != metav1.ConditionTrue {
		r.Events.Eventf(b, nil, corev1.EventTypeWarning, v.reason, "Publish", "%s", v.sentence)
	}
	return isChanged
}
