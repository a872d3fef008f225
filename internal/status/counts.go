// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// unproven counts workloads without a pod that has run the sidecar. Such a workload is also counted in its phase.
const unproven plan.State = "Unproven"

// counts contains the number of workloads by kind and phase.
type counts map[string]map[plan.State]int32

// add counts one workload.
func (c counts) add(kind string, phase plan.State) {
	if c[kind] == nil {
		c[kind] = map[plan.State]int32{}
	}
	c[kind][phase]++
}

// phaseCount returns the number of workloads of a kind that are in one of the phases.
func (c counts) phaseCount(kind string, phases ...plan.State) int32 {
	total := int32(0)
	for _, phase := range phases {
		total += c[kind][phase]
	}
	return total
}

// injectedCount returns the number of workloads of a kind with the current sidecar.
func (c counts) injectedCount(kind string) int32 {
	total := int32(0)
	for phase, count := range c[kind] {
		if hasCurrentSidecar(phase) {
			total += count
		}
	}
	return total
}

// addTo sets the counts of a status.
func (c counts) addTo(status *v1alpha1.VectorSidecarStatus) {
	deployments := workload.Default().Kind
	status.InjectedDeployments = c.injectedCount(deployments)
	for kind := range c {
		status.InjectedWorkloads += c.injectedCount(kind)
		status.ReadyWorkloads += c.phaseCount(kind, updated)
		status.WorkloadsWithoutPods += c.phaseCount(kind, unproven)
	}
}

// newKindStatuses returns the counts of each kind with matched workloads or sidecars, sorted by kind.
func newKindStatuses(matched *decision.Kinds, counted counts) []v1alpha1.KindStatus {
	var kinds []v1alpha1.KindStatus
	names := slices.Collect(maps.Keys(matched.Matched))
	for kind := range counted {
		if matched.Matched[kind] == 0 && counted.injectedCount(kind) > 0 {
			names = append(names, kind)
		}
	}
	for _, kind := range names {
		kinds = append(kinds, v1alpha1.KindStatus{
			Kind: v1alpha1.WorkloadKind(kind), Matched: int32(matched.Matched[kind]), //nolint:gosec // No namespace has two billion.
			Injected: counted.injectedCount(kind), Ready: counted.phaseCount(kind, updated), WithoutPods: counted.phaseCount(kind, unproven), PodsOutdated: counted.phaseCount(kind, podsOutdated),
			Waiting: counted.phaseCount(kind, waiting), Deferred: counted.phaseCount(kind, deferred), Conflicting: counted.phaseCount(kind, conflict, blocked, rejected),
			Skipped: counted.phaseCount(kind, skipped), Failed: counted.phaseCount(kind, failed),
		})
	}
	slices.SortFunc(kinds, func(a, b v1alpha1.KindStatus) int { return cmp.Compare(a.Kind, b.Kind) })
	return kinds
}
