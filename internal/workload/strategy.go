// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// Strategy is how a rollout replaces the pods of a workload. What is left out has the API
// server's defaults.
type Strategy struct {
	// Surge is how many pods run at most besides those that there should be, Unavailable
	// how many may be missing.
	Surge, Unavailable int
	// Ready is how long a new pod has to be ready to count as available.
	Ready time.Duration
}

// StrategyOf returns that of a workload: the zero value for kinds that replace no pods.
func StrategyOf(object Object) Strategy {
	content := contentOf(object)
	if content.Kind.strategy == nil {
		return Strategy{}
	}
	return content.Kind.strategy(object, int(content.Pods), content.Kind.Defaults)
}

// scaled returns a number, or a share of some pods.
func scaled(given *intstr.IntOrString, or string, pods int, isUp bool) int {
	count, err := intstr.GetScaledValueFromIntOrPercent(ptr.To(ptr.Deref(given, intstr.Parse(or))), pods, isUp)
	if err != nil { // The API server admits no other text.
		return 1
	}
	return count
}
