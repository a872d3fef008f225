// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// These annotations say who wrote a sidecar, and whether it was orphaned; see IsBookkeeping.
const (
	writtenBy = Group + "/written-by"
	orphaned  = Group + "/orphaned"
)

// AnnotationWrittenBy returns the annotation that names the operator installation that wrote
// a field manager's sidecar. It is written with each such write, and removed with the
// sidecar.
func AnnotationWrittenBy(manager string) string { return Beside(writtenBy, SidecarOf(manager)) }

// AnnotationOrphaned returns the annotation that says that a field manager's VectorSidecar
// was deleted with deletionPolicy Orphan: its sidecar must stay. The field manager of the
// annotation is Operator, so that a late write of the sidecar's manager does not remove it.
func AnnotationOrphaned(manager string) string { return Beside(orphaned, SidecarOf(manager)) }
