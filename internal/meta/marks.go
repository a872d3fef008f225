// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import "strings"

// Marks are annotations on a workload's own metadata that say something of how it came
// to carry a sidecar. They stand beside what is applied: no workload is written to
// because it lacks one, as those do that an earlier release wrote to, or has another.
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

// IsMark reports whether an annotation's key is that of a mark.
func IsMark(key string) bool {
	return strings.HasPrefix(key, writtenBy+".") || strings.HasPrefix(key, orphaned+".")
}
