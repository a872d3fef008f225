// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"crypto/sha256"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
)

// ownership is what the operator has merged into a workload. What one VectorSidecar
// has merged into a thousand of them is the same, and a few kilobytes.
type ownership struct {
	managers  []string
	byManager map[string]Owned
}

// ownershipIn returns the ownership in a Deployment. Most carry nothing of ours.
func (r *Reducer) ownershipIn(deployment *appsv1.Deployment) *ownership {
	managers := Managers(deployment)
	if len(managers) == 0 {
		return r.nothing
	}
	fresh := &ownership{managers: managers, byManager: owned(deployment)}
	// Strings and JSON values, which always marshal, and in the order of their keys.
	text, _ := json.Marshal([]any{fresh.managers, fresh.byManager})
	return r.ownerships.of(sha256.Sum256(text), func() *ownership { return fresh })
}
