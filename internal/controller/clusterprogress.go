// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// clusterParts are how far a ClusterVectorSidecar is with what the installation gives out, in the
// namespaces of each wave.
type clusterParts struct {
	// parts are what namespaces go by, by the name of the wave. They are never changed.
	parts map[string]*stage
	// progress is what namespaces have reported last.
	progress map[string]*namespaceProgress
	// broken are the workloads that had failed before the revision of a part was let through, by
	// the name of the wave.
	broken map[string]*brokenBefore
}

func newClusterParts() clusterParts {
	return clusterParts{progress: map[string]*namespaceProgress{}, broken: map[string]*brokenBefore{}}
}

// namespaceProgress is how far a namespace is with a revision.
type namespaceProgress struct {
	fleet.Progress

	wave, revision string
	due            time.Time
	// failed is when a workload was last seen to have failed.
	failed time.Time
}

// statusesOf returns the statuses of parts, in the order of their waves.
func statusesOf(rollouts map[string]*stage) []v1alpha1.RolloutStatus {
	var statuses []v1alpha1.RolloutStatus
	for _, rollout := range slices.SortedFunc(maps.Values(rollouts), func(a, b *stage) int { return cmp.Compare(a.of.Wave, b.of.Wave) }) {
		statuses = append(statuses, *rollout.Status.DeepCopy())
	}
	return statuses
}

// clusterOwn is how far a ClusterVectorSidecar is with its own spec.
type clusterOwn struct {
	// own is what the last pass over each namespace has seen.
	own map[string]*lastgood.Part
	// dropped is the version whose last good spec the API server has dropped from the status: the CustomResourceDefinition
	// may be applied apart from the chart, and not have the field yet. It is not written again and again.
	dropped clusterVersion
}

func newClusterOwn() clusterOwn { return clusterOwn{own: map[string]*lastgood.Part{}} }
