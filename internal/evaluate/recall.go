// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// recall finds what workloads were evaluated to before. They are asked for in the order
// of their names.
type recall []*decision.Evaluated

// of returns what a workload was evaluated to, nil unless that was by the same and the
// workload has changed in its state alone.
func (r *recall) of(record *workloadcache.Record, basis string) *decision.Evaluated {
	for len(*r) > 0 && (*r)[0].Of.Name < record.Name {
		*r = (*r)[1:]
	}
	if len(*r) > 0 && (*r)[0].Basis == basis && (*r)[0].Of.IsAs(record) {
		return (*r)[0]
	}
	return nil
}
