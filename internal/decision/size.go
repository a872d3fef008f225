// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// largestSidecar is how many bytes a VectorSidecar may have: room for the largest inline
// configuration, and half as much again for all else.
const largestSidecar = 768 << 10

// Bounded returns a VectorSidecar as it is, or in the place of one that is larger than
// may be what is left without its spec: who it is, its status, and how large it was. What
// is decided on that is the same, unless it is being deleted.
func Bounded(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	size := bytesOf(sidecar)
	if size <= largestSidecar {
		return sidecar
	}
	return &v1alpha1.VectorSidecar{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sidecar.Namespace, Name: sidecar.Name, UID: sidecar.UID,
			ResourceVersion: sidecar.ResourceVersion, Generation: sidecar.Generation,
			CreationTimestamp: sidecar.CreationTimestamp, DeletionTimestamp: sidecar.DeletionTimestamp,
			Annotations: map[string]string{meta.AnnotationSize: strconv.Itoa(size)},
		},
		Status: sidecar.Status,
	}
}

// IsReduced tells whether Bounded has left out the spec. No spec that somebody wrote is
// without a selector.
func IsReduced(sidecar *v1alpha1.VectorSidecar) bool {
	return sidecar.Annotations[meta.AnnotationSize] != "" && reflect.ValueOf(&sidecar.Spec).Elem().IsZero()
}

// bytesOf is how large a VectorSidecar is as JSON, without what the API server and the
// operator note in it.
func bytesOf(sidecar *v1alpha1.VectorSidecar) int {
	if IsReduced(sidecar) {
		size, _ := strconv.Atoi(sidecar.Annotations[meta.AnnotationSize]) // It is a number of ours.
		return size
	}
	written := v1alpha1.VectorSidecar{ObjectMeta: sidecar.ObjectMeta, Spec: sidecar.Spec}
	written.ManagedFields = nil
	var counted counter
	encoder := json.NewEncoder(&counted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&written); err != nil {
		return 0 // It is no JSON, as whoever reads its values says.
	}
	return int(counted)
}

// counter counts what is written to it.
type counter int

// Write counts.
func (c *counter) Write(text []byte) (int, error) {
	*c += counter(len(text))
	return len(text), nil
}

// tooLarge says that a VectorSidecar is, nil if it is not.
func tooLarge(sidecar *v1alpha1.VectorSidecar) *Invalid {
	size := bytesOf(sidecar)
	if size <= largestSidecar {
		return nil
	}
	return &Invalid{meta.ReasonTooLarge, fmt.Sprintf(
		"%s has %d KiB, and may have %d: put a large configuration into a ConfigMap (sidecar.config.configMapRef), and leave out of spec.values what no template reads; what is injected stays as it is",
		describe(sidecar), size>>10, largestSidecar>>10)}
}
