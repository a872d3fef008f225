// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// clusterWaves has the progress of a ClusterVectorSidecar with the target revision, for each wave.
type clusterWaves struct {
	// rollouts has the states of the waves by their names. The namespaces follow them. A state is never changed, only
	// replaced.
	rollouts map[string]*Rollout
	// progress has the last progress of each namespace.
	progress map[string]*namespaceProgress
	// broken has the namespaces in which workloads had failed before the revision of the wave started, by the name of
	// the wave.
	broken map[string]*PriorFailures
	// starts has the revision whose first rollouts wait in the namespaces until the status records their start, by the
	// name of the wave.
	starts map[string]string
}

func newClusterWaves() clusterWaves {
	return clusterWaves{progress: map[string]*namespaceProgress{}, broken: map[string]*PriorFailures{}, starts: map[string]string{}}
}

// namespaceProgress is the progress of a namespace with a revision.
type namespaceProgress struct {
	fleet.Progress

	wave, revision string
	maxAgeTime     time.Time
	// failed is the time when a reconcile last found a failed workload.
	failed time.Time
}

// RolloutStatuses returns a copy of the status of each rollout, sorted by wave. The keys of rollouts are not used.
func RolloutStatuses(rollouts map[string]*Rollout) []v1alpha1.RolloutStatus {
	var statuses []v1alpha1.RolloutStatus
	for _, rollout := range slices.SortedFunc(maps.Values(rollouts), func(a, b *Rollout) int { return cmp.Compare(a.Member.Wave, b.Member.Wave) }) {
		statuses = append(statuses, *rollout.Status.DeepCopy())
	}
	return statuses
}

// clusterSpecState has the progress of a ClusterVectorSidecar with its own spec.
type clusterSpecState struct {
	// specReports has the report of the last reconcile of each namespace.
	specReports map[string]*lastgood.NamespaceReport
	// dropped is the version for which the API server has dropped the last known good spec from the status. The
	// CustomResourceDefinition may be applied separately from the chart, and may lack the field. The operator does
	// not write the field again for this version.
	dropped clusterVersion
	// revert is the revert that the reconcile of a namespace has requested last, nil for none.
	revert *RevertRequest
}

// RevertRequest is the request of a namespace to revert the spec of its ClusterVectorSidecar.
type RevertRequest struct {
	lastgood.Attempt

	Reverted *v1alpha1.RevertedSpec
	// Cause has the first failed workload and the cause of its failure.
	Cause string
}

func newClusterSpecState() clusterSpecState {
	return clusterSpecState{specReports: map[string]*lastgood.NamespaceReport{}}
}
