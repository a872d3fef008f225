// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// Strategy describes how a rollout replaces the pods of a workload. Missing fields have the API server's
// defaults.
type Strategy struct {
	// Surge is the maximum number of additional pods. Unavailable is the maximum number of missing pods.
	Surge, Unavailable int
	// Ready is the time for which a new pod must be ready to count as available.
	Ready time.Duration
}

// StrategyFor returns the strategy of a workload. It is the zero value for kinds that do not replace pods.
func StrategyFor(object Object) Strategy {
	content := readContent(object)
	if content.Kind.strategy == nil {
		return Strategy{}
	}
	return content.Kind.strategy(object, int(content.Pods), content.Kind.Defaults)
}

// scaleValue returns a number, or a percentage of a number of pods.
func scaleValue(value *intstr.IntOrString, fallback string, pods int, isUp bool) int {
	count, err := intstr.GetScaledValueFromIntOrPercent(ptr.To(ptr.Deref(value, intstr.Parse(fallback))), pods, isUp)
	if err != nil { // The API server rejects other texts.
		return 1
	}
	return count
}
