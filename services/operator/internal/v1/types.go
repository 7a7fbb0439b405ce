// Package v1 are the custom resources of slotmesh.io/v1: businesses, whose spec is their manifest, and API keys that are kept in
// Secrets. What the API server is told of them is made in internal/definition.
package v1

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the resources.
var GroupVersion = schema.GroupVersion{Group: "slotmesh.io", Version: "v1"}

// AddToScheme makes the resources known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Business{}, &BusinessList{}, &APIKey{}, &APIKeyList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Finalizer keeps an object until what it stands for is removed from Slotmesh.
const Finalizer = "slotmesh.io/operator"

// Deletion is the annotation that says what becomes of a business when its object is deleted: [DeletionForce] or
// [DeletionRetain]. Without it the business is removed as soon as no customers are expected.
const Deletion = "slotmesh.io/deletion"

// The values of [Deletion].
const (
	// DeletionForce removes the business also while bookings, tickets or reservations lie ahead.
	DeletionForce = "force"
	// DeletionRetain leaves the business published.
	DeletionRetain = "retain"
)

// Adopt is the annotation that, where it is "true", lets an object take over a business that was published elsewhere.
const Adopt = "slotmesh.io/adopt"

// Ready is the type of the one condition: what the spec asks for is done.
const Ready = "Ready"

// Business is an offer as an object of Kubernetes. Its spec is a manifest without apiVersion and kind.
type Business struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              json.RawMessage `json:"spec,omitempty"`
	Status            BusinessStatus  `json:"status,omitempty"`
}

// BusinessStatus is what became of a Business.
type BusinessStatus struct {
	// ObservedGeneration is the generation of the spec that was judged last.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Slug is the business that was published.
	Slug string `json:"slug,omitempty"`
	// Version is the newest that was published of this object; 0: none.
	Version    int64              `json:"version,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Problems are why the manifest was refused, at most [MaxProblems] of them.
	Problems []Problem `json:"problems,omitempty"`
}

// MaxProblems bounds how many problems a status names.
const MaxProblems = 100

// Problem is one fault of a manifest.
type Problem struct {
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// BusinessList is a page of businesses.
type BusinessList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Business `json:"items"`
}

// APIKey is a key of a business, kept in a Secret and replaced as often as its spec says.
type APIKey struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              APIKeySpec   `json:"spec"`
	Status            APIKeyStatus `json:"status,omitempty"`
}

// APIKeySpec says which key is wanted.
type APIKeySpec struct {
	// Business is the name of a Business in the same namespace.
	Business string `json:"business"`
	// Scope is read, write or all.
	Scope string `json:"scope"`
	// SecretName is where the key is kept; empty: under the object's own name.
	SecretName string `json:"secretName,omitempty"`
	// RotateEvery is the age at which a key is replaced; nil: never.
	RotateEvery *metav1.Duration `json:"rotateEvery,omitempty"`
	// GracePeriod is how long a key that was replaced goes on working.
	GracePeriod metav1.Duration `json:"gracePeriod"`
}

// APIKeyStatus is which key there is.
type APIKeyStatus struct {
	ObservedGeneration int64        `json:"observedGeneration,omitempty"`
	Slug               string       `json:"slug,omitempty"`   // of the business that the key is of
	Prefix             string       `json:"prefix,omitempty"` // how the key begins
	CreatedAt          *metav1.Time `json:"createdAt,omitempty"`
	RotatesAt          *metav1.Time `json:"rotatesAt,omitempty"` // nil: it does not
	// Replaced is how many keys that were replaced are not revoked yet.
	Replaced   int                `json:"replaced,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// APIKeyList is a page of keys.
type APIKeyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []APIKey `json:"items"`
}

// DeepCopyObject returns a copy that shares nothing.
func (b *Business) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = slices.Clone(b.Spec)
	out.Status.Conditions = slices.Clone(b.Status.Conditions)
	out.Status.Problems = slices.Clone(b.Status.Problems)
	return &out
}

// DeepCopyObject returns a copy that shares nothing.
func (l *BusinessList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Business, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Business)
	}
	return &out
}

// DeepCopyObject returns a copy that shares nothing.
func (k *APIKey) DeepCopyObject() runtime.Object {
	out := *k
	k.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if k.Spec.RotateEvery != nil {
		every := *k.Spec.RotateEvery
		out.Spec.RotateEvery = &every
	}
	out.Status.CreatedAt = k.Status.CreatedAt.DeepCopy()
	out.Status.RotatesAt = k.Status.RotatesAt.DeepCopy()
	out.Status.Conditions = slices.Clone(k.Status.Conditions)
	return &out
}

// DeepCopyObject returns a copy that shares nothing.
func (l *APIKeyList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]APIKey, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*APIKey)
	}
	return &out
}
