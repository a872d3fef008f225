// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import "kontroloop.ai/vector-sidecar-operator/api/v1alpha1"

// ParentScope has the data of a ClusterVectorSidecar that its VectorSidecars in the namespaces do not have. It is the
// zero value for a VectorSidecar of a namespace.
type ParentScope struct {
	v1alpha1.ClusterScope

	// Generation is the generation of the ClusterVectorSidecar.
	Generation int64
	// IsActive is true if the ClusterVectorSidecar is not being deleted. Its VectorSidecar is being deleted also then in a
	// namespace that it does not select.
	IsActive bool
	// Invalid explains why the namespaceSelector cannot be parsed, "" if it can. If it is set, it is unknown which
	// namespaces are selected.
	Invalid string
	// Waves are the waves of the status, which are shared.
	Waves []v1alpha1.RolloutStatus
}

// ParentScopes are the scopes of ClusterVectorSidecars, by the name that their VectorSidecars have in the namespaces.
type ParentScopes map[string]ParentScope
