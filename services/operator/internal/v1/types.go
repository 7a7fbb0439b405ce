// Package v1 defines the custom resources of the API slotmesh.io/v1: Business, whose spec is
// a manifest, and APIKey, which describes an API key in a Secret. Package internal/definition
// generates the CustomResourceDefinitions, which the Kubernetes API server needs.
package v1

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the custom resources.
var GroupVersion = schema.GroupVersion{Group: "slotmesh.io", Version: "v1"}

// AddToScheme registers the types of the custom resources in the scheme `s`.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Business{}, &BusinessList{}, &APIKey{}, &APIKeyList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Finalizer is the finalizer of all objects. It keeps a deleted object
// until the operator has removed the business or the keys from Slotmesh.
const Finalizer = "slotmesh.io/operator"

// DeletionAnnotation is the annotation that decides what happens to the business when its object is
// deleted. Its values are [DeletionForce] and [DeletionRetain]. Without the annotation, the operator
// removes the business as soon as the business has no future bookings, tickets or reservations.
const DeletionAnnotation = "slotmesh.io/deletion"

// The values of [DeletionAnnotation].
const (
	// DeletionForce removes the business even if it has future bookings, tickets or reservations.
	DeletionForce = "force"
	// DeletionRetain keeps the business published.
	DeletionRetain = "retain"
)

// AdoptAnnotation is an annotation of objects. If its value is "true", the object may take over a business that was not
// published from this object.
const AdoptAnnotation = "slotmesh.io/adopt"

// ReadyCondition is the type of the only condition in a status. The
// condition is True when Slotmesh has the state that the spec describes.
const ReadyCondition = "Ready"

// Business is the Kubernetes object of a business. Its spec is a manifest without the fields apiVersion and kind.
type Business struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              json.RawMessage `json:"spec,omitempty"`
	Status            BusinessStatus  `json:"status,omitempty"`
}

// BusinessStatus is the result of the last reconciliation of a Business.
type BusinessStatus struct {
	// ObservedGeneration is the generation of the object at the last reconciliation.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Slug is the slug of the published business.
	Slug string `json:"slug,omitempty"`
	// Version is the number of the newest version that was published from this object; 0 if there is none.
	Version    int64              `json:"version,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Problems are the reasons why the manifest was refused. The list has at most [MaxProblems] elements.
	Problems []Problem `json:"problems,omitempty"`
}

// MaxProblems is the maximum number of problems in a status.
const MaxProblems = 100

// Problem is one problem of a manifest. Path is the path of a field, and Message describes what is wrong with the
// field.
type Problem struct {
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// BusinessList is a list of Business objects, as the Kubernetes API server returns it.
type BusinessList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Business `json:"items"`
}

// APIKey is the Kubernetes object of an API key. The operator creates the key in
// Slotmesh, stores it in a Secret, and replaces it as often as the spec requires.
type APIKey struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              APIKeySpec   `json:"spec"`
	Status            APIKeyStatus `json:"status,omitempty"`
}

// APIKeySpec is the specification of an APIKey.
type APIKeySpec struct {
	// Business is the name of a Business object in the same namespace.
	Business string `json:"business"`
	// Scope is the scope of the key: read, write or all.
	Scope string `json:"scope"`
	// SecretName is the name of the Secret in which the key is stored. The default is the name of the APIKey object.
	SecretName string `json:"secretName,omitempty"`
	// RotateEvery is the age at which the key is replaced. If it is nil, the key is never replaced.
	RotateEvery *metav1.Duration `json:"rotateEvery,omitempty"`
	// GracePeriod is how long a key remains valid after it was replaced.
	GracePeriod metav1.Duration `json:"gracePeriod"`
}

// APIKeyStatus is the result of the last reconciliation of an APIKey.
type APIKeyStatus struct {
	ObservedGeneration int64        `json:"observedGeneration,omitempty"`
	Slug               string       `json:"slug,omitempty"`   // slug of the business
	Prefix             string       `json:"prefix,omitempty"` // first characters of the key
	CreatedAt          *metav1.Time `json:"createdAt,omitempty"`
	// RotatesAt is the time of the next replacement; nil if the key is never replaced.
	RotatesAt *metav1.Time `json:"rotatesAt,omitempty"`
	// Replaced is the number of replaced keys that are not revoked yet.
	Replaced   int                `json:"replaced,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// APIKeyList is a list of APIKey objects, as the Kubernetes API server returns it.
type APIKeyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []APIKey `json:"items"`
}

// DeepCopyObject returns a deep copy of b.
func (b *Business) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = slices.Clone(b.Spec)
	out.Status.Conditions = slices.Clone(b.Status.Conditions)
	out.Status.Problems = slices.Clone(b.Status.Problems)
	return &out
}

// DeepCopyObject returns a deep copy of l.
func (l *BusinessList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Business, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Business)
	}
	return &out
}

// DeepCopyObject returns a deep copy of k.
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

// DeepCopyObject returns a deep copy of l.
func (l *APIKeyList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]APIKey, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*APIKey)
	}
	return &out
}
