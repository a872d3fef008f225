// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RolloutOf returns how long a rollout of a workload takes by its own strategy, if each pod takes
// startup until it is ready.
func RolloutOf(object workload.Object, startup time.Duration) time.Duration {
	content, _ := workload.Read(object)
	strategy := workload.StrategyOf(object)
	pods, each := int(content.Pods), max(strategy.Surge+strategy.Unavailable, 1)
	batches := (pods + each - 1) / each
	return time.Duration(batches) * (startup + strategy.Ready)
}

// surgeOf returns how many pods of a rollout run at most besides the old ones.
func surgeOf(object workload.Object) int {
	content, _ := workload.Read(object)
	return min(workload.StrategyOf(object).Surge, int(content.Pods))
}
