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
	// Source is what it is rendered from; nil for a workload that should have no
	// sidecar.
	Source *desired.Source
	// HasCarried reports whether it is known to have carried the sidecar, if another operator owns
	// it, and LastWriter is its View's by then.
	HasCarried bool
	LastWriter string
	// Started is the generation after the last write to it, 0 if none is known.
	Started int64
}
