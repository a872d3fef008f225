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
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// maxSidecarBytes is the maximum size of a VectorSidecar and of each of its texts, in bytes. maxNodes is the
// maximum number of its values, because three bytes of JSON may use a hundred bytes of memory. A status is written by the
// operator if it has at most maxSidecarBytes in memory.
const (
	maxSidecarBytes = 512 << 10
	maxNodes        = 30_000
)

// maxCachedBytes is the maximum size in memory of a VectorSidecar that is cached whole. A tenant may create many larger
// VectorSidecars. maxCachedPart is the maximum size of each part that stays in the cache of those.
const (
	maxCachedBytes = 32 << 10
	maxCachedPart  = maxCachedBytes / 2
)

const (
	sizeAdvice = "put a large configuration into a ConfigMap (sidecar.config.configMapRef), and remove unused values from spec.values"
	partAdvice = "shorten spec.selector and spec.rollout, and remove labels and annotations"
)

// ReduceForCache returns a VectorSidecar as it is cached. A VectorSidecar of more than maxCachedBytes is reduced to the
// part that decisions about other VectorSidecars need, and OmittedBytes is set. It changes the given VectorSidecar.
func ReduceForCache(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	if sidecar.OmittedBytes > 0 {
		return sidecar
	}
	sidecar = DropOversizedParts(sidecar)
	size := bounded.Footprint(*sidecar)
	if size <= maxCachedBytes {
		return sidecar
	}
	stub := cachedPart(sidecar)
	stub.Status = v1alpha1.VectorSidecarStatus{Environment: sidecar.Status.Environment, Rollout: sidecar.Status.Rollout, Reverted: sidecar.Status.Reverted}
	if bounded.Footprint(stub.Status) > maxCachedPart { // The operator did not write it.
		stub.Status = v1alpha1.VectorSidecarStatus{}
	}
	stub.OmittedBytes = max(size-bounded.Footprint(*stub), 1)
	return stub
}

// cachedPart returns the part of a VectorSidecar that stays in the cache if the whole is too large, without the status.
func cachedPart(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	stub := &v1alpha1.VectorSidecar{ObjectMeta: identity(sidecar), Spec: sidecar.Spec, Malformed: sidecar.Malformed}
	stub.Spec.Sidecar, stub.Spec.InitContainers, stub.Spec.Volumes, stub.Spec.Values = nil, nil, nil, nil
	stub.Labels, stub.Finalizers = sidecar.Labels, sidecar.Finalizers
	for key, value := range sidecar.Annotations {
		if strings.HasPrefix(key, meta.Group+"/") {
			metav1.SetMetaDataAnnotation(&stub.ObjectMeta, key, value)
		}
	}
	return stub
}

// identity returns the metadata that identifies an object and its version.
func identity(sidecar *v1alpha1.VectorSidecar) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: sidecar.Namespace, Name: sidecar.Name, UID: sidecar.UID,
		ResourceVersion: sidecar.ResourceVersion, Generation: sidecar.Generation,
		CreationTimestamp: sidecar.CreationTimestamp, DeletionTimestamp: sidecar.DeletionTimestamp,
	}
}

// DropOversizedParts removes the managedFields of a VectorSidecar, and a status that is larger than the operator's. It
// returns the result of DropOversizedSpec.
func DropOversizedParts(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	sidecar.ManagedFields = nil
	if bounded.Footprint(sidecar.Status) > maxSidecarBytes {
		sidecar.Status = v1alpha1.VectorSidecarStatus{}
	}
	return DropOversizedSpec(sidecar)
}

// DropOversizedSpec returns a VectorSidecar without its spec if the VectorSidecar is too large, and unchanged
// otherwise. The reduced copy keeps identity and status, and has an annotation with the reason. Decisions about the
// copy are the same as about the original, except while the VectorSidecar is being deleted.
func DropOversizedSpec(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	excess := findExcess(sidecar)
	if excess == "" {
		return sidecar
	}
	return WithExcess(sidecar, excess)
}

// WithExcess returns a VectorSidecar without its spec, for which decisions have the reason TooLarge. The excess is the
// part of the message after the name.
func WithExcess(sidecar *v1alpha1.VectorSidecar, excess string) *v1alpha1.VectorSidecar {
	reduced := &v1alpha1.VectorSidecar{ObjectMeta: identity(sidecar), Status: sidecar.Status}
	reduced.Annotations = map[string]string{meta.AnnotationExcess: excess}
	return reduced
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
		return fmt.Sprintf("%d KiB; at most %d KiB are allowed; %s", text.Len()>>10, maxSidecarBytes>>10, sizeAdvice)
	}
	if bounded.Footprint(written) > maxCachedBytes {
		if size := bounded.Footprint(*cachedPart(&written)); size > maxCachedPart {
			return fmt.Sprintf("%d KiB without sidecar, initContainers, volumes and values; at most %d KiB are allowed; %s", size>>10, maxCachedPart>>10, partAdvice)
		}
	}
	// Other errors are reported when the values are read.
	limits := bounded.Limits{
		Subject: "a VectorSidecar", Bytes: maxSidecarBytes, Nodes: maxNodes,
		Depth: math.MaxInt, Key: math.MaxInt, Path: math.MaxInt, Paths: math.MaxInt,
	}
	var limitErr *bounded.Error
	if _, err := limits.MeasureJSON(text.Bytes()); errors.As(err, &limitErr) && limitErr.Bound == bounded.Nodes {
		return fmt.Sprintf("more than %d values, each key, map and list counted; %s", maxNodes, sizeAdvice)
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
	return &Invalid{meta.ReasonTooLarge, fmt.Sprintf("%s has %s; injected sidecars stay unchanged", Describe(sidecar), excess)}
}
