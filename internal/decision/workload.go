// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Workload is one workload of a decision.
type Workload struct {
	Record    *workloadcache.Record
	Evaluated *Evaluated
	// Source is the source that the sidecar is rendered from, or nil for a workload that should not have a sidecar.
	Source *desired.Source
	// HadSidecar is true if a workload with a controller owner is known to have had the sidecar. LastWriter is the
	// last writer at that time.
	HadSidecar bool
	LastWriter string
	// Started is the generation after the last write to the workload, or 0 if it is not known.
	Started int64
}
