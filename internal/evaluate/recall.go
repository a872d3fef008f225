// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"cmp"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// recall finds the earlier evaluations of workloads. Lookups must be in the order of the workloads' names and kinds.
type recall []*decision.Evaluated

// find returns the earlier evaluation of a workload, or nil if more than its rollout state has changed.
func (r *recall) find(record *workloadcache.Record) *decision.Evaluated {
	isBefore := func(candidate *workloadcache.Record) bool {
		return cmp.Or(strings.Compare(candidate.Name, record.Name), strings.Compare(candidate.Kind, record.Kind)) < 0
	}
	for len(*r) > 0 && isBefore((*r)[0].Record) {
		*r = (*r)[1:]
	}
	if len(*r) > 0 && (*r)[0].Record.HasSameView(record) {
		return (*r)[0]
	}
	return nil
}
