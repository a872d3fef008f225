// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package companion finds the companion ConfigMaps that the operator generated for VectorSidecars, and the
// leftover sidecars of VectorSidecars that do not exist. It decides whether the operator may remove a leftover
// automatically. It does not decide the content of a companion, and does not read or write a cluster.
package companion

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// ContentDigest is an annotation of ConfigMaps in a cache. It replaces content that the cache leaves out, and
// is never written to a cluster.
const ContentDigest = meta.Group + "/content-digest"

// HasOtherContent reports whether two versions of a ConfigMap in a cache differ in their content.
func HasOtherContent(before, after *corev1.ConfigMap) bool {
	return before.Annotations[ContentDigest] != after.Annotations[ContentDigest] || !maps.Equal(before.Data, after.Data) ||
		!reflect.DeepEqual(before.BinaryData, after.BinaryData)
}

// Label adds a ConfigMap to the inventory of a VectorSidecar.
func Label(object *corev1.ConfigMap, sidecar string) {
	metav1.SetMetaDataLabel(&object.ObjectMeta, meta.LabelSidecar, meta.LabelValue(sidecar))
}

// Mark marks a ConfigMap as written by the operator. The ConfigMap must already have its name.
func Mark(object *corev1.ConfigMap) {
	object.Annotations = maps.Clone(object.Annotations)
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, meta.AnnotationCompanion, object.Name)
}

// IsOwnedBy reports whether a ConfigMap is a companion of a VectorSidecar: it has the label and the mark, and has no
// controller owner. A copy of a companion is not a companion, even with the same labels.
func IsOwnedBy(object *corev1.ConfigMap, sidecar *v1alpha1.VectorSidecar) bool {
	return IsLabeledFor(object, sidecar) && IsCompanion(object)
}

// IsCompanion reports whether a ConfigMap is a companion of the VectorSidecar that its label names, if it has the label.
func IsCompanion(object *corev1.ConfigMap) bool {
	return metav1.GetControllerOf(object) == nil && object.Annotations[meta.AnnotationCompanion] == object.Name
}

// IsLabeledFor reports whether a ConfigMap with the name of a companion may become a companion of a VectorSidecar.
// This is true for a companion, and for a ConfigMap with a removed mark.
func IsLabeledFor(object *corev1.ConfigMap, sidecar *v1alpha1.VectorSidecar) bool {
	return metav1.GetControllerOf(object) == nil && object.Labels[meta.LabelSidecar] == meta.LabelValue(sidecar.Name) && !IsCopy(object)
}

// IsCopy reports whether a ConfigMap is a copy of a companion under another name, including the mark.
func IsCopy(object *corev1.ConfigMap) bool {
	name := object.Annotations[meta.AnnotationCompanion]
	return name != "" && name != object.Name
}

// Digest returns a digest of the content of a ConfigMap.
func Digest(object *corev1.ConfigMap) string {
	// Maps of strings and bytes always marshal, in the order of their keys.
	text, _ := json.Marshal([]any{object.Data, object.BinaryData})
	return meta.Digest(text, 8)
}

// KnownDigest returns the digest of the content of a ConfigMap from a cache that may leave content out. The cache
// then stores the digest.
func KnownDigest(object *corev1.ConfigMap) string {
	if digest := object.Annotations[ContentDigest]; digest != "" {
		return digest
	}
	return Digest(object)
}

const (
	// longestName is the maximum length of an object's name.
	longestName = 253 // of an object
	// shortDigest is the number of bytes of a digest in a name.
	shortDigest = 5
)

// GenerateName returns the name of a companion that the operator generates without a template. distinction is a text that
// differs between the companions of the VectorSidecar. The name ends with a digest of it.
func GenerateName(sidecar, distinction string) string {
	end := "-vector-" + meta.Digest([]byte(distinction), shortDigest)
	if len(sidecar)+len(end) > longestName {
		unique := "-" + meta.Digest([]byte(sidecar), shortDigest)
		sidecar = strings.TrimRight(sidecar[:longestName-len(end)-len(unique)], "-.") + unique
	}
	return sidecar + end
}
