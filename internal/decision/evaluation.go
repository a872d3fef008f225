// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// evaluation is a decision in progress: the Input, the objects that were read for it, and the sidecars that were rendered
// from it.
type evaluation struct {
	Input

	// reader reads ConfigMaps and ServiceAccounts. After a failed read, the decision must not be used.
	reader *desired.Reader
	// desired are the desired sidecars. It is nil while the VectorSidecar is being deleted.
	desired *desired.Desired
	// preceding are the evaluations of the VectorSidecars that take precedence in some of the workloads, sorted by
	// precedence. Each of them is itself preceded by the evaluations before it.
	preceding []*evaluation
	// selector selects the workloads of a preceding VectorSidecar. pending caches the results of pendingSidecar by the
	// UID of the workload.
	selector workload.Selector
	pending  map[types.UID]*plan.Desired
	// bases caches the digests that basisFor returns, by Variant.Basis.
	bases map[string]string
	// overlays are the sidecars of workloads that do not exist yet. overlayBlocker explains why there are none. Both are
	// empty if they were not requested. They are also empty if the reason is unknown.
	overlays       []desired.AdmissionOverlay
	overlayBlocker string
	// texts caches the texts of the plans.
	texts plan.Texts
}

// findConfigMap returns an existing ConfigMap by name, or nil if it does not exist.
func (e *evaluation) findConfigMap(name string) *corev1.ConfigMap {
	for i := range e.Companions {
		if e.Companions[i].Name == name {
			return &e.Companions[i]
		}
	}
	return e.reader.ConfigMap(name)
}
