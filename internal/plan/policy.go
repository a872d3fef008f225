// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Policy contains the settings of a VectorSidecar for its plans.
type Policy struct {
	// StrictOrder reports whether to update a workload with an application init container before the native
	// sidecar. Otherwise, the next change corrects the order, because a correction restarts pods.
	StrictOrder bool
	// HostNetwork reports whether workloads on the host network also get the sidecar.
	HostNetwork bool
	// SkipsOwned reports whether workloads with a controller owner get no sidecar, and lose an existing
	// sidecar.
	SkipsOwned bool
	// ReportDrift reports whether manual changes are reported and not corrected.
	ReportDrift bool
	// Renew reports whether to write the current rendering over a sidecar that would be kept.
	Renew bool
	// Defers reports whether a change may wait for spec.rollout.mode.
	Defers bool
	// Second reports whether the annotations without a name in their keys belong to another VectorSidecar,
	// which takes precedence and has not written yet.
	Second bool
	// Manifests reports whether the workloads are manifests that are applied with the sidecar. The pod template
	// of a manifest can be changed for every kind.
	Manifests bool
	// Texts caches texts of plans. A nil value caches nothing.
	Texts *Texts
}
