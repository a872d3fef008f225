// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Policy contains the settings of one VectorSidecar, and the circumstances of one decision, that plans depend on.
type Policy struct {
	// StrictOrder reports whether an update moves the native sidecar before the application's init containers. If it is
	// false, only the next other change corrects the order, because a correction restarts pods.
	StrictOrder bool
	// HostNetwork reports whether workloads on the host network also get the sidecar.
	HostNetwork bool
	// SkipsOwned reports whether workloads with a controller owner do not get the sidecar, and lose an existing
	// sidecar.
	SkipsOwned bool
	// Superseded explains which VectorSidecar has precedence and injects a container of the same name. It is "" if no
	// other VectorSidecar does.
	Superseded string
	// ReportDrift reports whether manual changes of the sidecar are only reported, and not corrected.
	ReportDrift bool
	// Renew is true if the current rendering must replace a sidecar that would otherwise stay unchanged, because a
	// ConfigMap of that sidecar does not exist.
	Renew bool
	// Defers reports whether a change may wait for spec.rollout.mode.
	Defers bool
	// Second is true if another VectorSidecar with precedence sets the plain annotations of the workload, although it
	// has not written the workload yet.
	Second bool
	// Manifests reports whether the workloads are manifests that are not applied yet. The pod template in a manifest
	// can be changed for every kind.
	Manifests bool
	// Texts caches texts in plans. If it is nil, they are not cached.
	Texts *Texts
}
