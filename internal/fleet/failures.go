// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// MaxFailures is the maximum number of failures in a status.
const MaxFailures = 5

// mergeFailures adds the failures with a revision to recorded failures. The first message of an object stays while its
// reason stays, because later messages differ in the names of pods.
func mergeFailures(recorded []v1alpha1.RolloutFailure, revision string, failed []v1alpha1.RolloutFailure) []v1alpha1.RolloutFailure {
	if len(failed) == 0 {
		return recorded
	}
	merged := slices.Clone(recorded)
	for _, failure := range sortFailures(failed) {
		failure.Revision = revision
		i := slices.IndexFunc(merged, func(existing v1alpha1.RolloutFailure) bool {
			return existing.Revision == revision && compareFailures(existing, failure) == 0
		})
		switch {
		case i < 0:
			merged = append(merged, failure)
		case merged[i].Reason != failure.Reason:
			merged[i] = failure
		}
	}
	for len(merged) > MaxFailures {
		i := failureToDrop(merged)
		merged = slices.Delete(merged, i, i+1)
	}
	return merged
}

// failureToDrop returns the index of the last failure of the revision with the most failures.
func failureToDrop(failures []v1alpha1.RolloutFailure) int {
	count, last := map[string]int{}, 0
	for i := range failures {
		count[failures[i].Revision]++
	}
	for i := range failures {
		if count[failures[i].Revision] >= count[failures[last].Revision] {
			last = i
		}
	}
	return last
}

// sortFailures sorts failures by object.
func sortFailures(failures []v1alpha1.RolloutFailure) []v1alpha1.RolloutFailure {
	return slices.SortedFunc(slices.Values(failures), compareFailures)
}

// compareFailures sorts failures by namespace, kind and name of the workload.
func compareFailures(a, b v1alpha1.RolloutFailure) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
