package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/operator/internal/admin"
	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

// Names of the entries in the Secret of an API key.
const (
	// SecretKey is the name of the entry with the API key itself.
	SecretKey = "key"
	// SecretID is the name of the entry with the id of the API key. The id is needed to revoke the API key.
	SecretID = "id"
	// SecretSlug is the name of the entry with the slug of the business.
	SecretSlug = "slug"
)

const (
	reasonReady      = "Ready"      // the Secret holds a valid key
	reasonNoBusiness = "NoBusiness" // the Business does not exist or is not published yet
)

// APIKeys creates the API keys that APIKey objects describe, and stores them in Secrets. The key in the Secret is the
// current key of the object. All keys of an object have the name that [buildKeyName] returns. APIKeys revokes every key
// that has this name and is not the current key. This includes a key that was created but could not be stored.
type APIKeys struct {
	Client client.Client
	// Secrets reads single Secrets without a cache, because a cache needs the permission to list all Secrets.
	Secrets client.Reader
	Events  events.EventRecorder
	Admin   *admin.Client
	Clock   clock.Clock
	Log     *slog.Logger
	// Resync is the maximum time between two reconciliations of an object.
	Resync time.Duration
}

// Reconcile creates, replaces and revokes the keys of one APIKey
// object. After an error, the controller retries with backoff.
func (r *APIKeys) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var k v1.APIKey
	if err := r.Client.Get(ctx, request.NamespacedName, &k); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !k.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, &k)
	}
	if controllerutil.AddFinalizer(&k, v1.Finalizer) {
		if err := r.Client.Update(ctx, &k); err != nil {
			return ctrl.Result{}, err
		}
	}
	oldStatus := k.Status
	oldStatus.Conditions = slices.Clone(oldStatus.Conditions)
	next, ensureErr := r.ensureKey(ctx, &k)
	k.Status.ObservedGeneration = k.Generation
	if !equality.Semantic.DeepEqual(oldStatus, k.Status) {
		if err := r.Client.Status().Update(ctx, &k); err != nil {
			return ctrl.Result{}, errors.Join(ensureErr, err)
		}
	}
	return ctrl.Result{RequeueAfter: next}, ensureErr
}

// ensureKey creates, replaces and revokes keys until the Secret and the keys
// match the spec. ensureKey returns the time until the next reconciliation.
func (r *APIKeys) ensureKey(ctx context.Context, k *v1.APIKey) (time.Duration, error) {
	slug, err := r.findSlug(ctx, k)
	if err != nil {
		return 0, err
	}
	if slug == "" {
		r.setCondition(k, verdict{metav1.ConditionFalse, reasonNoBusiness,
			fmt.Sprintf("No Business %s is published here; the key is made as soon as it is.", k.Spec.Business)})
		return r.Resync, nil
	}
	k.Status.Slug = slug
	secret, err := r.readSecret(ctx, k)
	if err != nil {
		return 0, err
	}
	if secret != nil && !metav1.IsControlledBy(secret, k) {
		r.setCondition(k, verdict{metav1.ConditionFalse, reasonConflict,
			fmt.Sprintf("The Secret %s is there already and is not this object's; name another in secretName.",
				secret.Name)})
		return r.Resync, nil
	}
	keys, err := r.Admin.Keys(ctx, slug, buildKeyName(k))
	if err != nil {
		return 0, r.recordFailure(ctx, k, err)
	}
	current := findCurrentKey(secret, slug, keys)
	if current == nil || current.Scope != k.Spec.Scope || r.isDue(k, current) {
		if current, err = r.replace(ctx, k, slug, secret); err != nil {
			return 0, r.recordFailure(ctx, k, err)
		}
	}
	remaining, err := r.revokeReplaced(ctx, k, slug, current, keys)
	if err != nil {
		return 0, r.recordFailure(ctx, k, err)
	}
	r.recordReady(k, current, remaining)
	return r.computeNextCheck(k, current, remaining), nil
}

// findSlug returns the slug of the business to which the key `k` belongs. It returns "" if that business does not exist
// or is not published.
func (r *APIKeys) findSlug(ctx context.Context, k *v1.APIKey) (string, error) {
	var b v1.Business
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Spec.Business}, &b)
	if apierrors.IsNotFound(err) || err == nil && b.Status.Version == 0 {
		return "", nil
	}
	return b.Status.Slug, err
}

// readSecret returns the Secret of an APIKey object, or nil if the Secret does not exist.
func (r *APIKeys) readSecret(ctx context.Context, k *v1.APIKey) (*corev1.Secret, error) {
	var secret corev1.Secret
	err := r.Secrets.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: chooseSecretName(k)}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return &secret, err
}

func chooseSecretName(k *v1.APIKey) string {
	if k.Spec.SecretName != "" {
		return k.Spec.SecretName
	}
	return k.Name
}

// buildKeyName returns the name that the keys of the object have in Slotmesh.
// The name is unique for the object and has at most 100 characters.
func buildKeyName(k *v1.APIKey) string {
	return fmt.Sprintf("Kubernetes %.50s %s", k.Name, k.UID)
}

// findCurrentKey returns the key that the Secret holds. It returns nil if the Secret is missing, is incomplete, or
// belongs to another business. It also returns nil if the key in the Secret is not in the argument `keys`.
func findCurrentKey(secret *corev1.Secret, slug string, keys []admin.Key) *admin.Key {
	if secret == nil || string(secret.Data[SecretSlug]) != slug || len(secret.Data[SecretKey]) == 0 {
		return nil
	}
	i := slices.IndexFunc(keys, func(key admin.Key) bool { return key.ID.String() == string(secret.Data[SecretID]) })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// isDue reports whether `key` has reached the age at which the object `k` requires a new key.
func (r *APIKeys) isDue(k *v1.APIKey, key *admin.Key) bool {
	return k.Spec.RotateEvery != nil && !r.Clock.Now().Before(key.CreatedAt.Add(k.Spec.RotateEvery.Duration))
}

// replace creates a key and writes it to the Secret. If this write fails, the next reconciliation revokes the new key.
func (r *APIKeys) replace(ctx context.Context, k *v1.APIKey, slug string, secret *corev1.Secret) (*admin.Key, error) {
	created, err := r.Admin.CreateKey(ctx, slug, buildKeyName(k), k.Spec.Scope)
	if err != nil {
		return nil, err
	}
	isNew := secret == nil
	if isNew {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: chooseSecretName(k)},
			Type: corev1.SecretTypeOpaque}
		if err := controllerutil.SetControllerReference(k, secret, r.Client.Scheme()); err != nil {
			return nil, err
		}
	}
	secret.Data = map[string][]byte{SecretKey: []byte(created.Secret), SecretID: []byte(created.ID.String()),
		SecretSlug: []byte(slug)}
	if isNew {
		err = r.Client.Create(ctx, secret)
	} else {
		err = r.Client.Update(ctx, secret)
	}
	if err != nil {
		return nil, err
	}
	r.Events.Eventf(k, nil, corev1.EventTypeNormal, "Replaced", "Replace", "The Secret %s holds a new key, %s….",
		secret.Name, created.Prefix)
	r.Log.InfoContext(ctx, "made an API key", "namespace", k.Namespace, "name", k.Name, "slug", slug, "key", created.ID)
	return created, nil
}

// revokeReplaced revokes all keys of the object except the argument `current`. The replaced keys stay valid until the
// grace period after the creation of `current` has passed. The result is the number of replaced keys that are still
// valid.
func (r *APIKeys) revokeReplaced(ctx context.Context, k *v1.APIKey, slug string, current *admin.Key,
	keys []admin.Key) (int, error) {
	replaced := slices.DeleteFunc(slices.Clone(keys), func(key admin.Key) bool { return key.ID == current.ID })
	if r.Clock.Now().Before(current.CreatedAt.Add(k.Spec.GracePeriod.Duration)) {
		return len(replaced), nil
	}
	return 0, r.revokeKeys(ctx, k, slug, replaced)
}

// revokeKeys revokes the given keys. It ignores keys that no longer exist.
func (r *APIKeys) revokeKeys(ctx context.Context, k *v1.APIKey, slug string, keys []admin.Key) error {
	for _, key := range keys {
		if err := r.Admin.Revoke(ctx, slug, key.ID); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		r.Events.Eventf(k, nil, corev1.EventTypeNormal, "Revoked", "Revoke", "The key %s… is revoked.", key.Prefix)
		r.Log.InfoContext(ctx, "revoked an API key", "namespace", k.Namespace, "name", k.Name, "slug", slug, "key",
			key.ID)
	}
	return nil
}

// recordReady records the current key in the status and sets the condition to True. The argument `remaining` is the
// number of replaced keys that are still valid.
func (r *APIKeys) recordReady(k *v1.APIKey, current *admin.Key, remaining int) {
	created := metav1.NewTime(current.CreatedAt.Truncate(time.Second)) // the Kubernetes API server stores whole seconds
	k.Status.Prefix, k.Status.CreatedAt, k.Status.RotatesAt, k.Status.Replaced = current.Prefix, &created, nil,
		remaining
	if k.Spec.RotateEvery != nil {
		rotatesAt := metav1.NewTime(created.Add(k.Spec.RotateEvery.Duration))
		k.Status.RotatesAt = &rotatesAt
	}
	r.setCondition(k,
		verdict{metav1.ConditionTrue, reasonReady, fmt.Sprintf("The Secret %s holds the key.", chooseSecretName(k))})
}

// computeNextCheck returns the time until the next reconciliation. The next reconciliation is due when the
// key must be replaced, when replaced keys must be revoked, or after Resync, whichever comes first.
func (r *APIKeys) computeNextCheck(k *v1.APIKey, current *admin.Key, remaining int) time.Duration {
	wait := r.Resync
	age := r.Clock.Now().Sub(current.CreatedAt)
	if k.Spec.RotateEvery != nil {
		wait = min(wait, k.Spec.RotateEvery.Duration-age)
	}
	if remaining > 0 {
		wait = min(wait, k.Spec.GracePeriod.Duration-age)
	}
	return max(wait, time.Second)
}

// finalize revokes all keys of a deleted object and removes the finalizer.
// Kubernetes also deletes the Secret, because the object owns the Secret.
func (r *APIKeys) finalize(ctx context.Context, k *v1.APIKey) error {
	if !controllerutil.ContainsFinalizer(k, v1.Finalizer) {
		return nil
	}
	if err := r.revokeAll(ctx, k); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(k, v1.Finalizer)
	return client.IgnoreNotFound(r.Client.Update(ctx, k))
}

// revokeAll revokes every key of an object. If the business does not exist,
// there is nothing to revoke: the keys were deleted together with the business.
func (r *APIKeys) revokeAll(ctx context.Context, k *v1.APIKey) error {
	slug := k.Status.Slug
	if slug == "" {
		return nil // no key was created for this object
	}
	keys, err := r.Admin.Keys(ctx, slug, buildKeyName(k))
	if fault.Is(err, fault.BusinessNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.revokeKeys(ctx, k, slug, keys)
}

// recordFailure records in the status why the object does not have the key that its spec describes. recordFailure
// returns err, so that the controller retries.
func (r *APIKeys) recordFailure(ctx context.Context, k *v1.APIKey, err error) error {
	if apierrors.IsConflict(err) {
		return err // another client changed the Secret in the meantime
	}
	r.setCondition(k, newVerdict(err))
	if ctx.Err() == nil {
		r.Log.WarnContext(ctx, "keeping an API key failed", "namespace", k.Namespace, "name", k.Name, "error", err)
	}
	return err
}

// setCondition sets the condition of the object to `v`. If the condition changed and its status is not True,
// setCondition also records a Kubernetes event.
func (r *APIKeys) setCondition(k *v1.APIKey, v verdict) {
	isChanged := meta.SetStatusCondition(&k.Status.Conditions, v.condition(k.Generation))
	if isChanged && v.status != metav1.ConditionTrue {
		r.Events.Eventf(k, nil, corev1.EventTypeWarning, v.reason, "Replace", "%s", v.sentence)
	}
}
