// Package reconcile brings Slotmesh to the state that the custom resources describe: [Businesses]
// publishes manifests, and [APIKeys] stores keys in Secrets. Each reconciliation reads the whole state
// from the objects and the admin API again, so an interrupted one can be repeated.
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

// Reasons of the condition Ready.
const (
	reasonPublished    = "Published"
	reasonInvalid      = "Invalid"       // the manifest has problems
	reasonConflict     = "Conflict"      // another owner's business or Secret has the name
	reasonRefused      = "Refused"       // the admin API refused the request for another reason
	reasonUnreachable  = "Unreachable"   // the admin API did not answer, or could not handle the request
	reasonBookingAhead = "BookingsAhead" // deleted, but there are future bookings
)

// verdict is the content of a condition.
type verdict struct {
	status           metav1.ConditionStatus
	reason, sentence string
}

// condition returns the verdict as the condition Ready of a generation.
func (v verdict) condition(generation int64) metav1.Condition {
	return metav1.Condition{Type: v1.Ready, Status: v.status, Reason: v.reason, Message: v.sentence,
		ObservedGeneration: generation}
}

// verdictOf returns the status condition for an error of the admin API. For a fault with a status below
// 500 the reason is Refused. For any other error the reason is Unreachable and the status is Unknown.
func verdictOf(err error) verdict {
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Kind.Status < http.StatusInternalServerError && refused.Kind.Code != "" {
		return verdict{metav1.ConditionFalse, reasonRefused, "The admin API refuses: " + refused.Sentence}
	}
	return verdict{metav1.ConditionUnknown, reasonUnreachable,
		"The admin API does not answer, or cannot do this now; it is tried again."}
}

// Businesses publishes the manifests of Business objects.
type Businesses struct {
	Client client.Client
	Events events.EventRecorder
	Admin  *admin.Client
	Log    *slog.Logger
	// Resync is the time after which an unchanged object is compared with the published version again.
	Resync time.Duration
}

// Reconcile publishes the manifest of one Business object. If the object is being deleted, it removes
// the business. If Reconcile returns an error, the controller retries with backoff.
func (r *Businesses) Reconcile(ctx context.Context, asked ctrl.Request) (ctrl.Result, error) {
	var b v1.Business
	if err := r.Client.Get(ctx, asked.NamespacedName, &b); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	wanted, err := manifestOf(&b)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !b.DeletionTimestamp.IsZero() {
		return r.remove(ctx, &b, wanted)
	}
	if controllerutil.AddFinalizer(&b, v1.Finalizer) {
		if err := r.Client.Update(ctx, &b); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := b.Status
	before.Conditions = slices.Clone(before.Conditions)
	failed := r.publish(ctx, &b, wanted)
	b.Status.ObservedGeneration = b.Generation
	if !equality.Semantic.DeepEqual(before, b.Status) {
		if err := r.Client.Status().Update(ctx, &b); err != nil {
			return ctrl.Result{}, errors.Join(failed, err)
		}
	}
	return ctrl.Result{RequeueAfter: r.Resync}, failed
}

// desired is the manifest that an object describes.
type desired struct {
	slug      string
	managedBy string
	text      []byte
}

// manifestOf returns the manifest in the object's spec, with two defaults: slug is the object's name, and managed_by
// names the object. With managed_by, the owner's pages do not allow changes, which the operator would revert.
func manifestOf(b *v1.Business) (*desired, error) {
	decoder := json.NewDecoder(bytes.NewReader(b.Spec))
	decoder.UseNumber() // keeps prices as they are written
	members := map[string]any{}
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("the spec is no object: %w", err)
	}
	d := &desired{slug: b.Name, managedBy: "Kubernetes: " + b.Namespace + "/" + b.Name}
	if slug, _ := members["slug"].(string); slug != "" {
		d.slug = slug
	}
	if by, _ := members["managed_by"].(string); by != "" {
		d.managedBy = by
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

// maxManagedBy is the maximum length of managed_by in a manifest. Names of objects are ASCII.
const maxManagedBy = 200

// publish publishes the desired manifest unless it equals the newest version, and
// records the result in the status. It returns an error only if a retry may help.
func (r *Businesses) publish(ctx context.Context, b *v1.Business, wanted *desired) error {
	other, err := r.claimedBy(ctx, b, wanted.slug)
	if err != nil {
		return err
	}
	if other != "" {
		r.note(b, verdict{metav1.ConditionFalse, reasonConflict,
			fmt.Sprintf("%s is the business of %s; give it another slug, or delete one of the two.", wanted.slug,
				other)})
		return nil
	}
	newest, err := r.Admin.Newest(ctx, wanted.slug)
	if fault.Is(err, fault.BusinessNotFound) {
		newest, err = &admin.Published{}, nil
	}
	if err != nil {
		return r.failed(ctx, b, err)
	}
	if bytes.Equal(newest.Text, wanted.text) {
		r.published(b, wanted.slug, newest.Version)
		return nil
	}
	if newest.Version != 0 && !mayReplace(b, newest, wanted) {
		r.note(b, verdict{metav1.ConditionFalse, reasonConflict, fmt.Sprintf(
			"%s was published elsewhere; annotate this object with %s=true to take it over.", wanted.slug, v1.Adopt)})
		return nil
	}
	version, err := r.Admin.Publish(ctx, wanted.slug, wanted.text, newest.Version)
	if err != nil {
		return r.failed(ctx, b, err)
	}
	r.Events.Eventf(b, nil, corev1.EventTypeNormal, reasonPublished, "Publish", "Version %d of %s is published.",
		version, wanted.slug)
	r.Log.InfoContext(ctx, "published a business", "namespace", b.Namespace, "name", b.Name, "slug", wanted.slug,
		"version", version)
	r.published(b, wanted.slug, version)
	return nil
}

// claimedBy returns the name of another object with the same slug that has priority over b, or "" if no
// object has. The older object has priority; of two objects from the same second, the first by name.
func (r *Businesses) claimedBy(ctx context.Context, b *v1.Business, slug string) (string, error) {
	var all v1.BusinessList
	if err := r.Client.List(ctx, &all); err != nil {
		return "", err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.UID == b.UID || slugOf(other) != slug {
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

func slugOf(b *v1.Business) string {
	var named struct {
		Slug string `json:"slug"`
	}
	if json.Unmarshal(b.Spec, &named) == nil && named.Slug != "" {
		return named.Slug
	}
	return b.Name
}

// mayReplace reports whether the newest version was published for this object, or this object may replace it.
func mayReplace(b *v1.Business, newest *admin.Published, wanted *desired) bool {
	return b.Status.Slug == wanted.slug && b.Status.Version > 0 || b.Annotations[v1.Adopt] == "true" ||
		managedBy(newest) == wanted.managedBy
}

// managedBy returns the field managed_by of a published manifest.
func managedBy(p *admin.Published) string {
	var named struct {
		ManagedBy string `json:"managed_by"`
	}
	_ = json.Unmarshal(p.Text, &named) // a manifest that was published as YAML is returned as JSON too
	return named.ManagedBy
}

// remove removes the business of a deleted object, if the business belongs to that object. It then
// removes the finalizer, so that Kubernetes deletes the object.
func (r *Businesses) remove(ctx context.Context, b *v1.Business, wanted *desired) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(b, v1.Finalizer) {
		return ctrl.Result{}, nil
	}
	if b.Annotations[v1.Deletion] != v1.DeletionRetain {
		if waits, err := r.removed(ctx, b, wanted); waits || err != nil {
			return ctrl.Result{RequeueAfter: r.Resync}, err
		}
	}
	controllerutil.RemoveFinalizer(b, v1.Finalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Client.Update(ctx, b))
}

// removed removes the business. It reports true if the business must stay because of future bookings.
func (r *Businesses) removed(ctx context.Context, b *v1.Business, wanted *desired) (bool, error) {
	other, err := r.claimedBy(ctx, b, wanted.slug)
	if err != nil || other != "" {
		return false, err
	}
	newest, err := r.Admin.Newest(ctx, wanted.slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return false, nil
	}
	if err != nil {
		return false, r.notRemoved(ctx, b, err)
	}
	if managedBy(newest) != wanted.managedBy && newest.Version != b.Status.Version {
		return false, nil // the business belongs to another owner
	}
	err = r.Admin.Remove(ctx, wanted.slug, b.Annotations[v1.Deletion] == v1.DeletionForce)
	switch {
	case fault.Is(err, fault.Conflict):
		sentence, _, _ := strings.Cut(fault.Of(err).Sentence, ";")
		sentence = fmt.Sprintf("%s is not removed. %s; cancel them first, or annotate this object with %s=%s.",
			wanted.slug, sentence, v1.Deletion, v1.DeletionForce)
		return true, r.keep(ctx, b, verdict{metav1.ConditionFalse, reasonBookingAhead, sentence})
	case err != nil && !fault.Is(err, fault.BusinessNotFound):
		return false, r.notRemoved(ctx, b, err)
	}
	r.Events.Eventf(b, nil, corev1.EventTypeNormal, "Removed", "Remove", "%s is removed.", wanted.slug)
	r.Log.InfoContext(ctx, "removed a business", "namespace", b.Namespace, "name", b.Name, "slug", wanted.slug)
	return false, nil
}

// notRemoved records why a business could not be removed, and returns the error, so that the controller retries.
func (r *Businesses) notRemoved(ctx context.Context, b *v1.Business, err error) error {
	return errors.Join(err, r.keep(ctx, b, verdictOf(err)))
}

// keep records in the status why a deleted object still exists.
func (r *Businesses) keep(ctx context.Context, b *v1.Business, v verdict) error {
	if !r.note(b, v) {
		return nil
	}
	return r.Client.Status().Update(ctx, b)
}

// published records that a version is the newest one and equals the spec.
func (r *Businesses) published(b *v1.Business, slug string, version int64) {
	b.Status.Slug, b.Status.Version, b.Status.Problems = slug, version, nil
	r.note(b, verdict{metav1.ConditionTrue, reasonPublished, fmt.Sprintf("Version %d is published.", version)})
}

// failed records why nothing was published. It returns the error only if a retry may help.
func (r *Businesses) failed(ctx context.Context, b *v1.Business, err error) error {
	if problems := manifest.ProblemsOf(err); len(problems) > 0 {
		b.Status.Problems = nil
		for _, p := range problems[:min(len(problems), v1.MaxProblems)] {
			b.Status.Problems = append(b.Status.Problems, v1.Problem{Path: p.Path, Message: p.Message})
		}
		first := problems[0]
		r.note(b, verdict{metav1.ConditionFalse, reasonInvalid,
			fmt.Sprintf("The manifest has problems (%d), the first: %s: %s", len(problems), first.Path, first.Message)})
		return nil
	}
	r.note(b, verdictOf(err))
	if ctx.Err() == nil {
		r.Log.WarnContext(ctx, "publishing a business failed", "namespace", b.Namespace, "name", b.Name, "error", err)
	}
	return err
}

// note sets the object's condition to v and reports whether the condition changed. If the new status
// is not True, it also records a Kubernetes event.
func (r *Businesses) note(b *v1.Business, v verdict) bool {
	changed := meta.SetStatusCondition(&b.Status.Conditions, v.condition(b.Generation))
	if changed && v.status != metav1.ConditionTrue {
		r.Events.Eventf(b, nil, corev1.EventTypeWarning, v.reason, "Publish", "%s", v.sentence)
	}
	return changed
}
