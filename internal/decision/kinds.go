// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

// Kinds are the kinds of workloads of a VectorSidecar.
type Kinds struct {
	// Matched is the number of selected workloads by kind. Unlisted is the number of workloads by kind that have
	// matching labels but a kind that spec.workloads does not list.
	Matched, Unlisted map[string]int
	// Unserved are the kinds that spec.workloads lists and the installation does not enable, in the order of
	// spec.workloads.
	Unserved []string
	// MissingKinds are the enabled kinds in spec.workloads with an API that the cluster does not have. They are listed
	// even if no workloads match.
	MissingKinds []string
}

// Total returns the number of selected workloads.
func (k *Kinds) Total() int {
	total := 0
	for _, count := range k.Matched {
		total += count
	}
	return total
}
