// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// largestDocument is the maximum size of an OpenAPI document in bytes. The document of Argo Rollouts has two million.
const largestDocument = 32 << 20

// Definition has the fields of pods in the definition of a kind. The API server silently drops all other fields. For
// example, a native sidecar without its restartPolicy would be an init container that never ends.
type Definition struct{ pod *fields }

// fields are the fields of an object or of each item of a list. isOpen is true if any fields are accepted, because the
// definition does not list them.
type fields struct {
	isOpen bool
	below  map[string]*fields
}

// node is the relevant part of an OpenAPI schema.
type node struct {
	Properties map[string]*node `json:"properties"`
	Items      *node            `json:"items"`
	Keeps      bool             `json:"x-kubernetes-preserve-unknown-fields"`
}

// ReadDefinition reads the definition of a kind from the OpenAPI document, version 3, of its group and version. It
// needs the path to the pod template.
func ReadDefinition(document []byte, kind schema.GroupVersionKind, template []string) (*Definition, error) {
	var definitions struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if len(document) > largestDocument {
		return nil, fmt.Errorf("the OpenAPI document of %s has more than %d bytes", kind.GroupVersion(), largestDocument)
	}
	if err := json.Unmarshal(document, &definitions); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document of %s: %w", kind.GroupVersion(), err)
	}
	for _, text := range definitions.Components.Schemas {
		var schemaKinds struct {
			Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
		if json.Unmarshal(text, &schemaKinds) != nil || !slices.Contains(schemaKinds.Kinds, kind) {
			continue
		}
		current := &node{}
		if err := json.Unmarshal(text, current); err != nil {
			return nil, fmt.Errorf("reading the definition of kind %s: %w", kind.Kind, err)
		}
		for _, key := range append(slices.Clone(template), "spec") {
			if current = current.Properties[key]; current == nil {
				return nil, fmt.Errorf("the definition of kind %s does not have the field %s", kind.Kind, key)
			}
		}
		return &Definition{pod: current.listedFields()}, nil
	}
	return nil, fmt.Errorf("the OpenAPI document of API version %s does not have the kind %s", kind.GroupVersion(), kind.Kind)
}

// listedFields returns the fields that a schema lists, or nil if it accepts any fields. For a list, it returns the
// fields of the items.
func (n *node) listedFields() *fields {
	for n.Items != nil {
		n = n.Items
	}
	if n.Keeps || len(n.Properties) == 0 {
		return &fields{isOpen: true}
	}
	result := &fields{below: map[string]*fields{}}
	for name, child := range n.Properties {
		result.below[name] = child.listedFields()
	}
	return result
}

// UnknownField returns the path of a field of a pod that the definition does not have, or "" if it has all fields.
func (d *Definition) UnknownField(pod map[string]any) string { return d.pod.findUnknown(pod) }

// findUnknown returns the path of the first field of a value that is not in the fields, or "" for none.
func (f *fields) findUnknown(value any) string {
	if f.isOpen {
		return ""
	}
	for _, item := range tree.List(value) {
		if field := f.findUnknown(item); field != "" {
			return field
		}
	}
	object := tree.Map(value)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		child, ok := f.below[key]
		if !ok {
			return key
		}
		if field := child.findUnknown(object[key]); field != "" {
			return key + "." + field
		}
	}
	return ""
}
