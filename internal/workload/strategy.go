// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// Strategy describes how a rollout replaces the pods of a workload. Settings that the workload lacks have their
// defaults.
type Strategy struct {
	// Surge is the maximum number of additional pods. Unavailable is the maximum number of missing pods.
	Surge, Unavailable int
	// Ready is the time for which a new pod must have been ready to count as available.
	Ready time.Duration
}

// StrategyFor returns the strategy of a workload, or the zero value for kinds with rollouts that do not replace
// pods.
func StrategyFor(object Object) Strategy {
	content := readContent(object)
	if content.Kind.strategy == nil {
		return Strategy{}
	}
	return content.Kind.strategy(object, int(content.Pods), content.Kind.Defaults)
}

// scaleValue returns the number of pods for a setting that is a number or a percentage of pods. If the setting is nil,
// it uses the fallback. isUp rounds a percentage up.
func scaleValue(value *intstr.IntOrString, fallback string, pods int, isUp bool) int {
	count, err := intstr.GetScaledValueFromIntOrPercent(ptr.To(ptr.Deref(value, intstr.Parse(fallback))), pods, isUp)
	if err != nil { // The API server rejects other texts.
		return 1
	}
	return count
}
