// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Policy contains the settings of a VectorSidecar that its plans depend on.
type Policy struct {
	// StrictOrder reports whether a workload is updated if an init container of the application precedes the
	// native sidecar. If it is false, only the next change corrects the order, because a correction restarts
	// pods.
	StrictOrder bool
	// HostNetwork reports whether workloads on the host network also get the sidecar.
	HostNetwork bool
	// SkipsOwned reports whether workloads with a controller owner do not get the sidecar, and lose an existing
	// sidecar.
	SkipsOwned bool
	// Superseded explains which VectorSidecar injects a container of the same name and takes precedence, or is "" for
	// none.
	Superseded string
	// ReportDrift reports whether manual changes of the sidecar are only reported, and not corrected.
	ReportDrift bool
	// Renew is true if the current rendering replaces a sidecar that would otherwise stay unchanged.
	Renew bool
	// Defers reports whether a change may wait for spec.rollout.mode.
	Defers bool
	// Second is true if another VectorSidecar that takes precedence will set the annotations with keys that name no
	// VectorSidecar, although it has not written yet.
	Second bool
	// Manifests reports whether the workloads are manifests that will be applied with the sidecar. The pod
	// template in a manifest can be changed for every kind.
	Manifests bool
	// Texts caches texts in plans. If it is nil, they are not cached.
	Texts *Texts
}
