// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Policy is how a VectorSidecar wants its plans made.
type Policy struct {
	// StrictOrder updates a workload whose own init container comes before the native
	// sidecar. Otherwise the order is corrected with the next change, because it
	// restarts pods.
	StrictOrder bool
	// HostNetwork gives the sidecar also to workloads on the network of their node.
	HostNetwork bool
	// SkipsOwned leaves workloads of other operators out, and takes the sidecar out of them.
	SkipsOwned bool
	// ReportDrift leaves changes by people as they are.
	ReportDrift bool
	// Renew writes the current rendering over a sidecar that would be kept.
	Renew bool
	// Defers reports whether a change may wait for spec.rollout.mode.
	Defers bool
	// Second leaves the annotations without a name in their keys to another
	// VectorSidecar, which comes first and has not written yet.
	Second bool
	// Manifests reports whether the workloads are manifests that are applied with the sidecar: then the pod template
	// of every kind can be changed.
	Manifests bool
	// Texts caches texts of plans; nil caches nothing.
	Texts *Texts
}
