// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// strictVectorSidecar and strictClusterVectorSidecar are decoded like any other type.
type (
	strictVectorSidecar        VectorSidecar
	strictClusterVectorSidecar ClusterVectorSidecar
)

// Strict returns the object for decoders that report fields that they cannot read: unknown fields,
// and an error for each malformed field.
func (v *VectorSidecar) Strict() any { return (*strictVectorSidecar)(v) }

// Strict returns the object for decoders that report fields that they cannot read: unknown fields,
// and an error for each malformed field.
func (c *ClusterVectorSidecar) Strict() any { return (*strictClusterVectorSidecar)(c) }

// UnmarshalJSON decodes all readable fields of a VectorSidecar. An object that the
// CustomResourceDefinition accepted and Go cannot decode would otherwise fail its list, and with it
// all other objects of the cluster. Malformed explains which field is left out.
func (v *VectorSidecar) UnmarshalJSON(text []byte) (err error) {
	v.Malformed, err = decodeObject(text, (*strictVectorSidecar)(v), &v.TypeMeta, &v.ObjectMeta, &v.Spec, &v.Status)
	return err
}

// UnmarshalJSON decodes all readable fields of a ClusterVectorSidecar, like UnmarshalJSON of a
// VectorSidecar.
func (c *ClusterVectorSidecar) UnmarshalJSON(text []byte) (err error) {
	c.Malformed, err = decodeObject(text, (*strictClusterVectorSidecar)(c), &c.TypeMeta, &c.ObjectMeta, &c.Spec, &c.Status)
	return err
}

// decodeObject decodes an object. If the object cannot be decoded as a whole, decodeObject decodes each field separately,
// leaves out the fields that cannot be decoded, and returns the first of their errors as malformed. types, metadata, spec
// and status point to fields of the object.
func decodeObject[Object, Spec, Status any](text []byte, object *Object, types *metav1.TypeMeta, metadata *metav1.ObjectMeta, spec *Spec, status *Status) (malformed string, err error) {
	if json.Unmarshal(text, object) == nil {
		return "", nil
	}
	head, parts, err := splitObject(text)
	if err != nil {
		return "", err
	}
	*object = *new(Object)
	*types, *metadata = head.TypeMeta, head.ObjectMeta
	return cmp.Or(decodeFields("spec", parts["spec"], spec), decodeFields("status", parts["status"], status)), nil
}

// splitObject decodes the mandatory part of an object, and splits the rest.
func splitObject(text []byte) (head metav1.PartialObjectMetadata, parts map[string]stdjson.RawMessage, err error) {
	if err := json.Unmarshal(text, &head); err != nil {
		return head, nil, err
	}
	err = json.Unmarshal(text, &parts)
	return head, parts, err
}

// decodeFields decodes each field of an object separately, and leaves out fields that it cannot
// decode. It returns the first error, "" for none.
func decodeFields[T any](at string, text stdjson.RawMessage, into *T) string {
	var fields map[string]stdjson.RawMessage
	if len(text) == 0 {
		return ""
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Sprintf("%s: %v", at, err)
	}
	var malformed string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, err := json.Marshal(map[string]stdjson.RawMessage{name: fields[name]})
		if err == nil {
			read := *into
			if err = json.Unmarshal(field, &read); err == nil {
				*into = read
				continue
			}
		}
		malformed = cmp.Or(malformed, fmt.Sprintf("%s.%s: %v", at, name, err))
	}
	return malformed
}
