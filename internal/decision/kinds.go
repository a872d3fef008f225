// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

// Kinds are the kinds of workloads that a VectorSidecar concerns.
type Kinds struct {
	// Matched counts the selected workloads. Unlisted counts those whose labels match
	// and whose kind spec.workloads does not list. Both are by kind.
	Matched, Unlisted map[string]int
	// Unserved are the kinds that spec.workloads lists and the installation does not
	// serve, in that order.
	Unserved []string
	// Lacking are those that it lists and of which the cluster lacks the API, Matched or
	// not.
	Lacking []string
}

// Total is how many workloads are selected.
func (k *Kinds) Total() int {
	total := 0
	for _, count := range k.Matched {
		total += count
	}
	return total
}
