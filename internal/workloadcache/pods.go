// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"crypto/sha256"
	"encoding/json"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// sharePod returns the result of an earlier call if its content equals the argument, or else the argument. The workloads
// of one chart then share one view.
func sharePod(pods *interned[digest, workload.PodView], pod *workload.PodView) *workload.PodView {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode(pod) // Every value of the type marshals, with all fields.
	return pods.getOrCreate(digest(sum.Sum(nil)), func() *workload.PodView { return pod })
}
