// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// maxSidecarBytes is the maximum size of a VectorSidecar and of each of its texts, in bytes. maxNodes is the
// maximum number of its values, because three bytes of JSON may use a hundred bytes of memory.
const (
	maxSidecarBytes = 512 << 10
	maxNodes        = 30_000
)

// DropOversizedSpec returns a VectorSidecar without its spec if the VectorSidecar is too large, and unchanged
// otherwise. The reduced copy keeps identity and status, and has an annotation with the reason. Decisions about the
// copy are the same as about the original, except while the VectorSidecar is being deleted.
func DropOversizedSpec(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	excess := findExcess(sidecar)
	if excess == "" {
		return sidecar
	}
	return &v1alpha1.VectorSidecar{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sidecar.Namespace, Name: sidecar.Name, UID: sidecar.UID,
			ResourceVersion: sidecar.ResourceVersion, Generation: sidecar.Generation,
			CreationTimestamp: sidecar.CreationTimestamp, DeletionTimestamp: sidecar.DeletionTimestamp,
			Annotations: map[string]string{meta.AnnotationExcess: excess},
		},
		Status: sidecar.Status,
	}
}

// IsReduced reports whether DropOversizedSpec has removed the spec of a VectorSidecar. A valid spec is never empty,
// because it has a selector.
func IsReduced(sidecar *v1alpha1.VectorSidecar) bool {
	return sidecar.Annotations[meta.AnnotationExcess] != "" && reflect.ValueOf(&sidecar.Spec).Elem().IsZero()
}

// findExcess returns the reason why a VectorSidecar is too large, or "" if it is not. It measures the JSON of the
// fields that users write.
func findExcess(sidecar *v1alpha1.VectorSidecar) string {
	if IsReduced(sidecar) {
		return sidecar.Annotations[meta.AnnotationExcess]
	}
	written := v1alpha1.VectorSidecar{ObjectMeta: sidecar.ObjectMeta, Spec: sidecar.Spec}
	written.ManagedFields = nil
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&written); err != nil {
		return "" // The object is not valid JSON, which is reported when its values are read.
	}
	if text.Len() > maxSidecarBytes {
		return fmt.Sprintf("%d KiB; at most %d KiB are allowed", text.Len()>>10, maxSidecarBytes>>10)
	}
	// Other errors are reported when the values are read.
	limits := bounded.Limits{
		Subject: "a VectorSidecar", Bytes: maxSidecarBytes, Nodes: maxNodes,
		Depth: math.MaxInt, Key: math.MaxInt, Path: math.MaxInt, Paths: math.MaxInt,
	}
	var limitErr *bounded.Error
	if _, err := limits.MeasureJSON(text.Bytes()); errors.As(err, &limitErr) && limitErr.Bound == bounded.Nodes {
		return fmt.Sprintf("more than %d values, each key, map and list counted", maxNodes)
	}
	return ""
}

// TooLarge returns the reason why the operator does not use a VectorSidecar that is too large, or nil if it is not too
// large.
func TooLarge(sidecar *v1alpha1.VectorSidecar) *Invalid {
	excess := findExcess(sidecar)
	if excess == "" {
		return nil
	}
	return &Invalid{meta.ReasonTooLarge, fmt.Sprintf(
		"%s has %s; put a large configuration into a ConfigMap (sidecar.config.configMapRef), and remove unused values from spec.values; injected sidecars stay unchanged",
		Describe(sidecar), excess)}
}
