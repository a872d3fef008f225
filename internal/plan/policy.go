// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Policy is what a VectorSidecar wishes of a plan beside the result.
type Policy struct {
	// StrictOrder makes a native sidecar that another writer's init container
	// got ahead of a reason for an update. Without it, the order is mended
	// together with the next change: it costs new pods.
	StrictOrder bool
	// ReportDrift leaves what a person changed as it is.
	ReportDrift bool
	// Renew writes what is rendered now over a sidecar that would be kept.
	Renew bool
	// Second leaves the annotations without a name in their keys to another
	// VectorSidecar, which comes first and has not written yet.
	Second bool
	// Texts remembers what plans say; nil remembers nothing.
	Texts *Texts
}
