// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"slices"
	"strings"
)

const (
	managerPrefix = "vectorsidecar/"
	// clusterPrefix begins the field manager of a ClusterVectorSidecar, and its name in a
	// namespace.
	clusterPrefix = "clustervectorsidecar/"
	// clusterKey stands for it where a slash is not allowed. No object's name has an
	// underscore, so that none of a VectorSidecar is the same.
	clusterKey = "cluster_"
	// The API server rejects longer field manager names.
	managerMaxLength = 128
)

// Operator is the field manager for what the operator writes other than sidecars, such as
// finalizers and status. It is also the operator's name in events.
const Operator = "vector-sidecar-operator"

// Creator is the field manager that creates an object which Operator then fills. It owns no
// field: another process may already have filled the object.
const Creator = Operator + "-creator"

// Manager returns the field manager under which everything of one VectorSidecar is applied.
// The name must never change: with another one, the next version of the operator would leave
// the old container beside the new one (test/envtest.TestAnotherManagersNameLeavesTheOldContainer).
// It is derived from the name and not the UID, so that an object restored from a backup still
// owns what it injected.
//
// That of a ClusterVectorSidecar, whose name here is that of InNamespace, is its own: a
// VectorSidecar of the same name is another.
func Manager(sidecar string) string {
	if name, isCluster := ClusterOf(sidecar); isCluster {
		return clusterPrefix + shorten(name, managerMaxLength-len(clusterPrefix))
	}
	return managerPrefix + shorten(sidecar, managerMaxLength-len(managerPrefix))
}

// SidecarOf returns the VectorSidecar's name in a field manager's name, shortened if it is
// long.
func SidecarOf(manager string) string { return strings.TrimPrefix(manager, managerPrefix) }

// IsManager reports whether a field manager is that of a VectorSidecar or of a
// ClusterVectorSidecar.
func IsManager(name string) bool {
	return strings.HasPrefix(name, managerPrefix) || strings.HasPrefix(name, clusterPrefix)
}

// InNamespace returns the name by which a ClusterVectorSidecar is known in each namespace.
// It is clustervectorsidecar/NAME, which no object can be called.
func InNamespace(cluster string) string { return clusterPrefix + cluster }

// ClusterOf returns the name of the ClusterVectorSidecar that is known by a name in a
// namespace, and false for the name of a VectorSidecar.
func ClusterOf(sidecar string) (name string, isCluster bool) {
	return strings.CutPrefix(sidecar, clusterPrefix)
}

// Title names a VectorSidecar, or a ClusterVectorSidecar by its name in a namespace, with
// its kind, for people.
func Title(sidecar string) string {
	if name, isCluster := ClusterOf(sidecar); isCluster {
		return "ClusterVectorSidecar " + name
	}
	return "VectorSidecar " + sidecar
}

// TitleIn is Title with the namespace.
func TitleIn(namespace, sidecar string) string {
	if _, isCluster := ClusterOf(sidecar); isCluster {
		return Title(sidecar) + " in namespace " + namespace
	}
	return Title(namespace + "/" + sidecar)
}

// ObjectName returns a name that templates can call objects after: that of a VectorSidecar,
// or that of a ClusterVectorSidecar after "cluster-".
func ObjectName(sidecar string) string {
	if name, isCluster := ClusterOf(sidecar); isCluster {
		return "cluster-" + name
	}
	return sidecar
}

// keyed returns a name for the key of an annotation or the value of a label.
func keyed(sidecar string) string {
	if name, isCluster := ClusterOf(sidecar); isCluster {
		return clusterKey + name
	}
	return sidecar
}

// people are the field managers of programs with which people change objects by hand.
// Deployers (kubectl apply, helm, argocd, flux) are not among them: what they own is in a
// manifest and comes back.
var people = []string{
	"kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-replace", "kubectl-rollout",
	"kubectl-annotate", "kubectl-label", "k9s", "node-fetch", "Mozilla", "dashboard",
}

// IsPerson reports whether a field manager stands for a person. "kubectl" does only for an
// update, as after kubectl rollout undo: server-side apply by a deployer uses the same name.
func IsPerson(manager string, byUpdate bool) bool {
	return slices.Contains(people, manager) || manager == "kubectl" && byUpdate
}

// IsByHand reports whether the last writer on record of an object is a tool that a person runs: one
// of theirs, or kubectl in any way. What a person took out is no owner's doing.
func IsByHand(manager string) bool {
	return strings.HasPrefix(manager, "kubectl") || IsPerson(manager, true)
}

// shorten keeps names of up to limit characters, and ends longer ones with a digest to keep
// them unique.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	return name[:limit-17] + "-" + Digest([]byte(name), 8)
}
