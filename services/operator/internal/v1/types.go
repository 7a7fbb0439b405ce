// Package v1 defines the custom resources of slotmesh.io/v1: Business, whose spec is a manifest, and
// APIKey, an API key in a Secret. Package internal/definition generates their definitions for the API
// server.
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

// AddToScheme registers the resources in a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Business{}, &BusinessList{}, &APIKey{}, &APIKeyList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Finalizer keeps a Kubernetes object until its business or keys are removed from Slotmesh.
const Finalizer = "slotmesh.io/operator"

// DeletionAnnotation is the annotation that decides what happens to a business when its object is deleted:
// [DeletionForce] or [DeletionRetain]. Without it, the operator removes the business as soon as it has
// no future bookings, tickets or reservations.
const DeletionAnnotation = "slotmesh.io/deletion"

// The values of [Deletion].
const (
	// DeletionForce removes the business even if it has future bookings, tickets or reservations.
	DeletionForce = "force"
	// DeletionRetain keeps the business published.
	DeletionRetain = "retain"
)

// AdoptAnnotation is an annotation. If it is "true", the object takes over a business that was published elsewhere.
const AdoptAnnotation = "slotmesh.io/adopt"

// ReadyCondition is the type of the only condition. It is true when the state of the spec is reached.
const ReadyCondition = "Ready"

// Business is a business as a Kubernetes object. Its spec is a manifest without apiVersion and kind.
type Business struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              json.RawMessage `json:"spec,omitempty"`
	Status            BusinessStatus  `json:"status,omitempty"`
}

// BusinessStatus is the result of the last reconciliation of a Business.
type BusinessStatus struct {
	// ObservedGeneration is the generation of the spec that was reconciled last.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Slug is the slug of the published business.
	Slug string `json:"slug,omitempty"`
	// Version is the newest version published from this object; 0: none.
	Version    int64              `json:"version,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Problems are the reasons why the manifest was refused, at most [MaxProblems].
	Problems []Problem `json:"problems,omitempty"`
}

// MaxProblems is the maximum number of problems in a status.
const MaxProblems = 100

// Problem is one problem of a manifest.
type Problem struct {
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// BusinessList is a page of Business objects.
type BusinessList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Business `json:"items"`
}

// APIKey is an API key of a business. The operator stores it in a Secret and replaces it as often as its spec asks for.
type APIKey struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              APIKeySpec   `json:"spec"`
	Status            APIKeyStatus `json:"status,omitempty"`
}

// APIKeySpec is the specification of an APIKey.
type APIKeySpec struct {
	// Business is the name of a Business in the same namespace.
	Business string `json:"business"`
	// Scope is read, write or all.
	Scope string `json:"scope"`
	// SecretName is the name of the Secret with the key. The default is the name of the object.
	SecretName string `json:"secretName,omitempty"`
	// RotateEvery is the age at which the key is replaced; nil: never.
	RotateEvery *metav1.Duration `json:"rotateEvery,omitempty"`
	// GracePeriod is how long a replaced key remains valid.
	GracePeriod metav1.Duration `json:"gracePeriod"`
}

// APIKeyStatus is the state of the current key.
type APIKeyStatus struct {
	ObservedGeneration int64        `json:"observedGeneration,omitempty"`
	Slug               string       `json:"slug,omitempty"`   // slug of the business
	Prefix             string       `json:"prefix,omitempty"` // first characters of the key
	CreatedAt          *metav1.Time `json:"createdAt,omitempty"`
	RotatesAt          *metav1.Time `json:"rotatesAt,omitempty"` // nil: never
	// Replaced is the number of replaced keys that are not revoked yet.
	Replaced   int                `json:"replaced,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// APIKeyList is a page of APIKey objects.
type APIKeyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []APIKey `json:"items"`
}

// DeepCopyObject returns a deep copy.
func (b *Business) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = slices.Clone(b.Spec)
	out.Status.Conditions = slices.Clone(b.Status.Conditions)
	out.Status.Problems = slices.Clone(b.Status.Problems)
	return &out
}

// DeepCopyObject returns a deep copy.
func (l *BusinessList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Business, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Business)
	}
	return &out
}

// DeepCopyObject returns a deep copy.
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

// DeepCopyObject returns a deep copy.
func (l *APIKeyList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]APIKey, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*APIKey)
	}
	return &out
}
