// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"crypto/sha256"
	"encoding/json"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// pods contains the views of pod templates by their content, so that the workloads of one chart share one.
type pods struct {
	byContent *interned[digest, workload.PodView]
}

func newPods() pods { return pods{newInterned[digest, workload.PodView]()} }

// share returns the view with the same content that an earlier call returned, or else its argument.
func (p pods) share(pod *workload.PodView) *workload.PodView {
	content, _ := json.Marshal(pod) // Every value of the type marshals, with all fields.
	return p.byContent.getOrCreate(sha256.Sum256(content), func() *workload.PodView { return pod })
}
