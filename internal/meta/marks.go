// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// Marks are bookkeeping that says who wrote a sidecar, and whether it was left for good;
// see IsBookkeeping.
const (
	writtenBy = Group + "/written-by"
	orphaned  = Group + "/orphaned"
)

// AnnotationWrittenBy is the mark that names the installation of the operator that has
// merged in what is a field manager's. It comes with each such write, and goes with the
// sidecar.
func AnnotationWrittenBy(manager string) string { return Beside(writtenBy, SidecarOf(manager)) }

// AnnotationOrphaned is the mark that says that a field manager's VectorSidecar was
// deleted with deletionPolicy Orphan: its sidecar is meant to stay. The operator owns
// the mark, and not that manager, so that a write of it which lands late leaves it.
func AnnotationOrphaned(manager string) string { return Beside(orphaned, SidecarOf(manager)) }
