// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RequiredObject is an object of the installation chart that the operator depends on. An object of a namespaced kind
// is in the operator namespace.
type RequiredObject struct{ Kind, Name string }

// requiredKinds has the group and version of each kind of RequiredObjects.
var requiredKinds = map[string]schema.GroupVersion{
	"ConfigMap":                        corev1.SchemeGroupVersion,
	"Service":                          corev1.SchemeGroupVersion,
	"MutatingAdmissionPolicy":          admissionregistrationv1.SchemeGroupVersion,
	"MutatingAdmissionPolicyBinding":   admissionregistrationv1.SchemeGroupVersion,
	"ValidatingAdmissionPolicy":        admissionregistrationv1.SchemeGroupVersion,
	"ValidatingAdmissionPolicyBinding": admissionregistrationv1.SchemeGroupVersion,
	"ValidatingWebhookConfiguration":   admissionregistrationv1.SchemeGroupVersion,
}

// ParseRequiredObject parses KIND/NAME.
func ParseRequiredObject(text string) (RequiredObject, error) {
	kind, name, _ := strings.Cut(text, "/")
	if _, ok := requiredKinds[kind]; !ok || name == "" {
		return RequiredObject{}, fmt.Errorf("%q is not KIND/NAME, where KIND is one of %s", text, strings.Join(slices.Sorted(maps.Keys(requiredKinds)), ", "))
	}
	return RequiredObject{kind, name}, nil
}

// String returns the kind and the name, as in messages.
func (o RequiredObject) String() string { return o.Kind + " " + o.Name }

// IsNamespaced reports whether the object has a namespace.
func (o RequiredObject) IsNamespaced() bool { return requiredKinds[o.Kind].Group == corev1.GroupName }

// Resource returns the resource of the kind.
func (o RequiredObject) Resource() schema.GroupVersionResource {
	plural, _ := apimeta.UnsafeGuessKindToResource(requiredKinds[o.Kind].WithKind(o.Kind))
	return plural
}

// Presence is the result of a check whether an object exists.
type Presence string

// An object of a kind that the API server does not serve is not missing, because the chart renders it only for API
// servers that do.
const (
	ObjectPresent   Presence = "present"
	ObjectMissing   Presence = "missing"
	ObjectNotServed Presence = "not_served"
	ObjectNotRead   Presence = "not_read"
)

// Presences returns all values of Presence.
func Presences() []Presence {
	return []Presence{ObjectPresent, ObjectMissing, ObjectNotServed, ObjectNotRead}
}

// Presence checks whether the object exists, by reading its metadata. It returns an error only together with
// ObjectNotRead.
func (o RequiredObject) Presence(ctx context.Context, live client.Reader, namespace string) (Presence, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(requiredKinds[o.Kind].WithKind(o.Kind))
	key := client.ObjectKey{Name: o.Name}
	if o.IsNamespaced() {
		key.Namespace = namespace
	}
	switch err := live.Get(ctx, key, object); {
	case err == nil:
		return ObjectPresent, nil
	case apimeta.IsNoMatchError(err):
		return ObjectNotServed, nil
	case apierrors.IsNotFound(err):
		return ObjectMissing, nil
	default:
		return ObjectNotRead, fmt.Errorf("reading %s: %w", o, err)
	}
}
