// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package companion knows what VectorSidecars have in a cluster beside the sidecars: the
// ConfigMaps that the operator made for them, and what is left of VectorSidecars that do
// not exist, with whether the operator may take it out by itself. It does not decide what
// a companion holds, and reads and writes no cluster.
package companion

import (
	"encoding/json"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// ContentDigest is an annotation of ConfigMaps in a cache, never of any in a cluster:
// it stands for content that was left out.
const ContentDigest = meta.Group + "/content-digest"

// Label puts a ConfigMap into the inventory of a VectorSidecar.
func Label(object *corev1.ConfigMap, sidecar string) {
	metav1.SetMetaDataLabel(&object.ObjectMeta, meta.LabelSidecar, meta.LabelValue(sidecar))
}

// Mark says that the operator writes a ConfigMap, which has to have its name.
func Mark(object *corev1.ConfigMap) {
	object.Annotations = maps.Clone(object.Annotations)
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, meta.AnnotationCompanion, object.Name)
}

// IsOf reports whether a ConfigMap is a companion of a VectorSidecar: it is labelled and
// marked, and has no controller owner. A copy that somebody has made of one is not,
// whatever its labels.
func IsOf(object *corev1.ConfigMap, sidecar *v1alpha1.VectorSidecar) bool {
	return IsLeftTo(object, sidecar) && object.Annotations[meta.AnnotationCompanion] == object.Name
}

// IsLeftTo reports whether a ConfigMap with the name of a companion may become one of a
// VectorSidecar: it is one, or its mark was removed.
func IsLeftTo(object *corev1.ConfigMap, sidecar *v1alpha1.VectorSidecar) bool {
	return metav1.GetControllerOf(object) == nil && object.Labels[meta.LabelSidecar] == meta.LabelValue(sidecar.Name) && !IsCopy(object)
}

// IsCopy reports whether a ConfigMap is a copy that somebody has made of a companion,
// with all that marks one.
func IsCopy(object *corev1.ConfigMap) bool {
	name := object.Annotations[meta.AnnotationCompanion]
	return name != "" && name != object.Name
}

// Digest is a digest of the content of a ConfigMap.
func Digest(object *corev1.ConfigMap) string {
	// Maps of strings and bytes always marshal, and in the order of their keys.
	text, _ := json.Marshal([]any{object.Data, object.BinaryData})
	return meta.Digest(text, 8)
}

// KnownDigest is the same of one from a cache that may leave content out.
func KnownDigest(object *corev1.ConfigMap) string {
	if digest := object.Annotations[ContentDigest]; digest != "" {
		return digest
	}
	return Digest(object)
}

const (
	longestName = 253 // of an object
	// shortDigest is how many bytes of a digest are in a name.
	shortDigest = 5
)

// Name is that of a companion which the operator makes by itself, without a template.
// It ends in a digest of what tells it from other companions of the VectorSidecar.
func Name(sidecar, distinction string) string {
	end := "-vector-" + meta.Digest([]byte(distinction), shortDigest)
	if len(sidecar)+len(end) > longestName {
		unique := "-" + meta.Digest([]byte(sidecar), shortDigest)
		sidecar = strings.TrimRight(sidecar[:longestName-len(end)-len(unique)], "-.") + unique
	}
	return sidecar + end
}
