// Package reconcile brings Slotmesh to what the custom resources ask for: [Businesses] publishes manifests, [APIKeys] keeps keys in
// Secrets. Everything that it decides by is read anew each time, from the objects and from the admin API, so that a pass that breaks
// off is simply done again.
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

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/services/operator/internal/admin"
	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

// Reasons of the condition Ready.
const (
	reasonPublished    = "Published"
	reasonInvalid      = "Invalid"       // the manifest has problems
	reasonConflict     = "Conflict"      // somebody else's business or Secret has the name
	reasonRefused      = "Refused"       // the admin API refused for another reason
	reasonUnreachable  = "Unreachable"   // the admin API gave no answer, or could not do it now
	reasonBookingAhead = "BookingsAhead" // deleted, but customers are expected
)

// verdict is what a condition says.
type verdict struct {
	status           metav1.ConditionStatus
	reason, sentence string
}

// condition is the verdict as the condition Ready of a generation.
func (v verdict) condition(generation int64) metav1.Condition {
	return metav1.Condition{Type: v1.Ready, Status: v.status, Reason: v.reason, Message: v.sentence, ObservedGeneration: generation}
}

// verdictOf says why the admin API did not do what it was asked. Where it could not, nothing is known of what there is.
func verdictOf(err error) verdict {
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Kind.Status < http.StatusInternalServerError && refused.Kind.Code != "" {
		return verdict{metav1.ConditionFalse, reasonRefused, "The admin API refuses: " + refused.Sentence}
	}
	return verdict{metav1.ConditionUnknown, reasonUnreachable, "The admin API does not answer, or cannot do this now; it is tried again."}
}

// Businesses publishes the manifests of Business objects.
type Businesses struct {
	Client client.Client
	Events events.EventRecorder
	Admin  *admin.Client
	Log    *slog.Logger
	// Resync is after which time an object that nobody changed is held against what is published.
	Resync time.Duration
}

// Reconcile publishes one object's manifest, or removes its business. An error is tried again, ever later.
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

// desired is the manifest that an object asks for.
type desired struct {
	slug      string
	managedBy string
	text      []byte
}

// manifestOf completes the spec: it has the object's name for a slug where it names none, and says where it is managed, so that the
// owner's pages do not change what would be changed back.
func manifestOf(b *v1.Business) (*desired, error) {
	decoder := json.NewDecoder(bytes.NewReader(b.Spec))
	decoder.UseNumber() // prices go through as they are written
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
	members["apiVersion"], members["kind"], members["slug"], members["managed_by"] = "slotmesh/v1", "Business", d.slug, d.managedBy
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, err
	}
	d.text = text.Bytes()
	return d, nil
}

// maxManagedBy is what a manifest takes of managed_by; names of objects are ASCII.
const maxManagedBy = 200

// publish publishes what is wanted where it is not the newest version, and notes in the status what came of it. Its error is worth
// another attempt.
func (r *Businesses) publish(ctx context.Context, b *v1.Business, wanted *desired) error {
	other, err := r.claimedBy(ctx, b, wanted.slug)
	if err != nil {
		return err
	}
	if other != "" {
		r.note(b, verdict{metav1.ConditionFalse, reasonConflict, fmt.Sprintf("%s is the business of %s; give it another slug, or delete one of the two.", wanted.slug, other)})
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
	r.Events.Eventf(b, nil, corev1.EventTypeNormal, reasonPublished, "Publish", "Version %d of %s is published.", version, wanted.slug)
	r.Log.InfoContext(ctx, "published a business", "namespace", b.Namespace, "name", b.Name, "slug", wanted.slug, "version", version)
	r.published(b, wanted.slug, version)
	return nil
}

// claimedBy is the object that has the slug already, "" where none has: the older one, and of two of one second the first by name.
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
			other.CreationTimestamp.Equal(&b.CreationTimestamp) && client.ObjectKeyFromObject(other).String() < client.ObjectKeyFromObject(b).String() {
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

// mayReplace reports whether the newest version is this object's, or has been left to it.
func mayReplace(b *v1.Business, newest *admin.Published, wanted *desired) bool {
	return b.Status.Slug == wanted.slug && b.Status.Version > 0 || b.Annotations[v1.Adopt] == "true" || managedBy(newest) == wanted.managedBy
}

// managedBy is where a published manifest says that it is written.
func managedBy(p *admin.Published) string {
	var named struct {
		ManagedBy string `json:"managed_by"`
	}
	_ = json.Unmarshal(p.Text, &named) // what was published as YAML comes as JSON, too
	return named.ManagedBy
}

// remove removes the business of a deleted object, as far as it is this object's, and lets the object go.
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

// removed removes the business, and reports whether customers who are expected keep it.
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
		return false, nil // somebody else's, now or all along
	}
	err = r.Admin.Remove(ctx, wanted.slug, b.Annotations[v1.Deletion] == v1.DeletionForce)
	switch {
	case fault.Is(err, fault.Conflict):
		sentence, _, _ := strings.Cut(fault.Of(err).Sentence, ";")
		sentence = fmt.Sprintf("%s is not removed. %s; cancel them first, or annotate this object with %s=%s.", wanted.slug, sentence, v1.Deletion, v1.DeletionForce)
		return true, r.keep(ctx, b, verdict{metav1.ConditionFalse, reasonBookingAhead, sentence})
	case err != nil && !fault.Is(err, fault.BusinessNotFound):
		return false, r.notRemoved(ctx, b, err)
	}
	r.Events.Eventf(b, nil, corev1.EventTypeNormal, "Removed", "Remove", "%s is removed.", wanted.slug)
	r.Log.InfoContext(ctx, "removed a business", "namespace", b.Namespace, "name", b.Name, "slug", wanted.slug)
	return false, nil
}

// notRemoved notes why a business is still there, and returns the error for another attempt.
func (r *Businesses) notRemoved(ctx context.Context, b *v1.Business, err error) error {
	return errors.Join(err, r.keep(ctx, b, verdictOf(err)))
}

// keep writes why a deleted object is still there.
func (r *Businesses) keep(ctx context.Context, b *v1.Business, v verdict) error {
	if !r.note(b, v) {
		return nil
	}
	return r.Client.Status().Update(ctx, b)
}

// published notes that a version is the newest, and what the spec asks for.
func (r *Businesses) published(b *v1.Business, slug string, version int64) {
	b.Status.Slug, b.Status.Version, b.Status.Problems = slug, version, nil
	r.note(b, verdict{metav1.ConditionTrue, reasonPublished, fmt.Sprintf("Version %d is published.", version)})
}

// failed notes why nothing was published. What another attempt may change it returns.
func (r *Businesses) failed(ctx context.Context, b *v1.Business, err error) error {
	if problems := manifest.ProblemsOf(err); len(problems) > 0 {
		b.Status.Problems = nil
		for _, p := range problems[:min(len(problems), v1.MaxProblems)] {
			b.Status.Problems = append(b.Status.Problems, v1.Problem{Path: p.Path, Message: p.Message})
		}
		first := problems[0]
		r.note(b, verdict{metav1.ConditionFalse, reasonInvalid, fmt.Sprintf("The manifest has problems (%d), the first: %s: %s", len(problems), first.Path, first.Message)})
		return nil
	}
	r.note(b, verdictOf(err))
	if ctx.Err() == nil {
		r.Log.WarnContext(ctx, "publishing a business failed", "namespace", b.Namespace, "name", b.Name, "error", err)
	}
	return err
}

// note sets the condition, and tells of a worse one by an event; it reports whether the condition changed.
func (r *Businesses) note(b *v1.Business, v verdict) bool {
	changed := meta.SetStatusCondition(&b.Status.Conditions, v.condition(b.Generation))
	if changed && v.status != metav1.ConditionTrue {
		r.Events.Eventf(b, nil, corev1.EventTypeWarning, v.reason, "Publish", "%s", v.sentence)
	}
	return changed
}
