// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"slices"
	"strings"
)

const (
	// writtenBy, orphaned, waiting and failedBefore are annotations that record the writer of a sidecar, whether the
	// sidecar was orphaned, since when a workload waits for a change, and whether it failed before the write. See
	// IsBookkeeping.
	writtenBy    = Group + "/written-by"
	orphaned     = Group + "/orphaned"
	waiting      = Group + "/waiting-since"
	failedBefore = Group + "/failed-before"
)

// AnnotationWrittenBy returns the key of the annotation that names the installation that wrote a field
// manager's sidecar. Each such write sets it. It is removed with the sidecar.
func AnnotationWrittenBy(manager string) string {
	return AnnotationKeyFor(writtenBy, SidecarName(manager))
}

// AnnotationOrphaned returns the key of the annotation on workloads with an orphaned sidecar: a field manager's
// VectorSidecar was deleted with deletionPolicy Orphan, and its sidecar must stay. The field manager of the
// annotation is Operator, so that a late write of the sidecar's manager does not remove it.
func AnnotationOrphaned(manager string) string {
	return AnnotationKeyFor(orphaned, SidecarName(manager))
}

// AnnotationWaiting returns the key of the annotation that records since when a workload waits for a field
// manager's change (spec.rollout.mode), and a digest of its pod template at that time. The manager writes it,
// and the change removes it.
func AnnotationWaiting(manager string) string { return AnnotationKeyFor(waiting, SidecarName(manager)) }

// IsWaiting reports whether a key is a result of AnnotationWaiting.
func IsWaiting(key string) bool { return strings.HasPrefix(key, waiting+".") }

// AnnotationFailedBefore returns the key of the annotation on a workload that failed before a field manager's
// last write to its pod template. The same write sets or removes it, so that it does not need another request.
func AnnotationFailedBefore(manager string) string {
	return AnnotationKeyFor(failedBefore, SidecarName(manager))
}

// IsFailedBefore reports whether a key is a result of AnnotationFailedBefore.
func IsFailedBefore(key string) bool { return strings.HasPrefix(key, failedBefore+".") }

// IsOrphaned reports whether a key is a result of AnnotationOrphaned.
func IsOrphaned(key string) bool { return strings.HasPrefix(key, orphaned+".") }

// marks are the annotations that the operator or the API server writes to workloads and their pod templates.
var marks = slices.Concat(bookkeeping, []string{
	AnnotationInjected, AnnotationInjectedHash, AnnotationContainerName, AnnotationConfigMapVersion, injectedItemsPrefix, injectedEnvPrefix, aboutPrefix,
})

// IsMark reports whether a key is the key of an annotation that the operator writes to workloads, for any
// VectorSidecar.
func IsMark(key string) bool {
	if !strings.HasPrefix(key, Group+"/") {
		return false
	}
	return slices.ContainsFunc(marks, func(plain string) bool { return IsAnnotationKey(key, plain) })
}

// ManagerOfMark returns the field manager of the VectorSidecar in the key of a mark, or "" if the key contains
// no name. The name in the key may be shortened. In this case the function returns the candidate with the same
// shortened name, if any.
func ManagerOfMark(key string, candidates []string) string {
	plain, name, hasName := strings.Cut(strings.TrimPrefix(key, Group+"/"), ".")
	if !hasName {
		return ""
	}
	for _, manager := range candidates {
		if AnnotationKeyFor(Group+"/"+plain, SidecarName(manager)) == key {
			return manager
		}
	}
	if cluster, isCluster := strings.CutPrefix(name, clusterNames.keyPrefix); isCluster {
		return Manager(ClusterSidecarName(cluster))
	}
	return Manager(name)
}
