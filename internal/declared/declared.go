// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package declared reads the VectorSidecars and ClusterVectorSidecars that the values of an installation declare, and
// decides what to do about each of them. It takes the ConfigMap of values and an existing object, and returns an action
// and a state. It reads and writes nothing.
package declared

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Key is the key of the declared objects in the ConfigMap of an installation's values. The chart writes it if
// vectorSidecars.enabled is true.
const Key = "vectorSidecars"

// WriteTimeout is the maximum time from reading the ConfigMap of values to the end of a write that depends on it. The
// uninstall Job waits for it after it has stopped the writes.
const WriteTimeout = 5 * time.Second

// Sidecars are the objects that an installation declares. The key of a ClusterVectorSidecar has no namespace.
type Sidecars struct {
	// specs is nil if the installation does not declare objects.
	specs      map[types.NamespacedName]json.RawMessage
	allowEmpty bool
}

// Parse reads the declared objects from the data of the ConfigMap of values. Data without the key Key declares no
// objects. The error names the invalid key or item.
func Parse(data map[string]string) (*Sidecars, error) {
	text, ok := data[Key]
	if !ok {
		return &Sidecars{}, nil
	}
	var written struct {
		AllowEmpty   bool                       `json:"allowEmpty"`
		Items        map[string]json.RawMessage `json:"items"`
		ClusterItems map[string]json.RawMessage `json:"clusterItems"`
	}
	if err := bounded.Object().DecodeYAMLStrictly([]byte(text), &written); err != nil {
		return nil, fmt.Errorf("reading %s: %w", Key, err)
	}
	sidecars := &Sidecars{specs: map[types.NamespacedName]json.RawMessage{}, allowEmpty: written.AllowEmpty}
	for item, spec := range written.Items {
		namespace, name, _ := strings.Cut(item, "/")
		if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil, fmt.Errorf("%s.items: %q is not a valid key; use NAMESPACE/NAME", Key, item)
		}
		sidecars.specs[types.NamespacedName{Namespace: namespace, Name: name}] = spec
	}
	for name, spec := range written.ClusterItems {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil, fmt.Errorf("%s.clusterItems: %q is not a valid name of a ClusterVectorSidecar", Key, name)
		}
		sidecars.specs[types.NamespacedName{Name: name}] = spec
	}
	// Helm removes keys with the value null. A ConfigMap that was written by hand may have them.
	maps.DeleteFunc(sidecars.specs, func(_ types.NamespacedName, spec json.RawMessage) bool { return string(spec) == "null" })
	return sidecars, nil
}

// IsEnabled reports whether the installation declares objects, which may be none.
func (s *Sidecars) IsEnabled() bool { return s.specs != nil }

// Keys returns the keys of the declared objects, sorted.
func (s *Sidecars) Keys() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(s.specs), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
}

// Has reports whether an object is declared.
func (s *Sidecars) Has(key types.NamespacedName) bool {
	_, ok := s.specs[key]
	return ok
}

// Spec returns the spec of a declared object as it was written, in JSON.
func (s *Sidecars) Spec(key types.NamespacedName) json.RawMessage { return s.specs[key] }

// Manifest returns a declared object as JSON with its kind, name and spec.
func (s *Sidecars) Manifest(key types.NamespacedName) (kind string, text []byte) {
	kind = kindFor(key)
	metadata := map[string]any{"namespace": key.Namespace, "name": key.Name}
	text, _ = json.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": s.specs[key]}) // The spec was parsed from JSON.
	return kind, text
}

// isEmptied reports whether no object of the kind of a key is declared, and the values do not allow the deletion of
// the last ones.
func (s *Sidecars) isEmptied(key types.NamespacedName) bool {
	return !s.allowEmpty && !slices.ContainsFunc(s.Keys(), func(other types.NamespacedName) bool {
		return (other.Namespace == "") == (key.Namespace == "")
	})
}

// IsUninstalling reports whether the ConfigMap of values stops all writes of declared objects, because the installation
// is being uninstalled.
func IsUninstalling(annotations map[string]string) bool {
	value, ok := annotations[meta.AnnotationUninstalling]
	return ok && value != "false"
}

// Object is a VectorSidecar or a ClusterVectorSidecar.
type Object interface {
	metav1.Object
	runtime.Object
}

// New returns an empty VectorSidecar with a name, or a ClusterVectorSidecar if the key has no namespace.
func New(key types.NamespacedName) Object {
	types := metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: kindFor(key)}
	metadata := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
	if key.Namespace == "" {
		return &v1alpha1.ClusterVectorSidecar{TypeMeta: types, ObjectMeta: metadata}
	}
	return &v1alpha1.VectorSidecar{TypeMeta: types, ObjectMeta: metadata}
}

// kindFor returns the kind of the object with a key: ClusterVectorSidecar for a key without a namespace.
func kindFor(key types.NamespacedName) string {
	if key.Namespace == "" {
		return "ClusterVectorSidecar"
	}
	return "VectorSidecar"
}

// Title returns the kind and the name of a declared object for messages.
func Title(key types.NamespacedName) string {
	return kindFor(key) + " " + strings.TrimPrefix(key.String(), "/")
}

// decode reads a spec into an object, and returns errors for unknown fields.
func decode(key types.NamespacedName, spec json.RawMessage) (Object, error) {
	document, err := bounded.Encode(map[string]any{"spec": spec})
	if err != nil {
		return nil, err
	}
	object := New(key)
	var into any
	switch object := object.(type) {
	case *v1alpha1.VectorSidecar:
		into = object.Strict()
	case *v1alpha1.ClusterVectorSidecar:
		into = object.Strict()
	}
	unknown, err := document.DecodeStrictly(into)
	return object, errors.Join(append(unknown, err)...)
}

// haveSameSpec reports whether two objects have the same spec, with the defaults of the CustomResourceDefinition.
func haveSameSpec(object, other Object) bool {
	text, err := completeSpec(object)
	otherText, otherErr := completeSpec(other)
	return err == nil && otherErr == nil && string(text) == string(otherText)
}

// completeSpec returns the spec of an object with its defaults, as JSON with sorted keys, so that equal specs have
// equal texts.
func completeSpec(object Object) ([]byte, error) {
	var spec any
	switch object := object.(type) {
	case *v1alpha1.VectorSidecar:
		complete := object.Spec
		setDefaults(&complete)
		spec = complete
	case *v1alpha1.ClusterVectorSidecar:
		complete := object.Spec
		setDefaults(&complete.VectorSidecarSpec)
		spec = complete
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var generic any
	if err := bounded.Object().DecodeJSON(text, &generic); err != nil {
		return nil, err
	}
	return json.Marshal(generic)
}

// setDefaults sets the fields with a default in the CustomResourceDefinition that the spec does not set.
func setDefaults(spec *v1alpha1.VectorSidecarSpec) {
	if spec.Enabled == nil {
		spec.Enabled = new(true)
	}
	spec.Workloads = spec.Kinds()
}
