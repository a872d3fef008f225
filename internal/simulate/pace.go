// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RolloutDuration returns the duration of a rollout of a workload under its own strategy, if each pod becomes ready after a
// given time.
func RolloutDuration(object workload.Object, startup time.Duration) time.Duration {
	content, _ := workload.Read(object)
	strategy := workload.StrategyFor(object)
	pods, batchSize := int(content.Pods), max(strategy.Surge+strategy.Unavailable, 1)
	batches := (pods + batchSize - 1) / batchSize
	return time.Duration(batches) * (startup + strategy.Ready)
}

// surgePods returns the maximum number of pods that a rollout runs in addition to the old ones.
func surgePods(object workload.Object) int {
	content, _ := workload.Read(object)
	return min(workload.StrategyFor(object).Surge, int(content.Pods))
}
