// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"
	"slices"
	"strings"
)

// kindNames has the names of the objects of one kind: VectorSidecar or ClusterVectorSidecar.
type kindNames struct {
	kind string
	// prefix begins the field manager of the object, and its name as an argument of the command.
	prefix string
	// keyPrefix replaces prefix in places where a slash is not allowed. objectPrefix begins the names of objects that
	// templates create.
	keyPrefix, objectPrefix string
	// inNamespace is the format of the name with its namespace.
	inNamespace string
}

var (
	sidecarNames = &kindNames{kind: "VectorSidecar", prefix: "vectorsidecar/", inNamespace: "%[1]s/%[2]s"}
	// The prefix is also part of the name in a namespace. The keyPrefix cannot begin the name of a VectorSidecar, because
	// object names do not contain underscores.
	clusterNames = &kindNames{
		kind: "ClusterVectorSidecar", prefix: "clustervectorsidecar/", keyPrefix: "cluster_", objectPrefix: "cluster-", inNamespace: "%[2]s in namespace %[1]s",
	}
)

// managerMaxLength is the maximum length of a field manager's name. The API server rejects longer names.
const managerMaxLength = 128

// Operator is the field manager for everything that the operator writes except sidecars and status, such as
// finalizers. It is also the name of the operator in events.
const Operator = "vector-sidecar-operator"

// StatusManager is the field manager that applies the status of VectorSidecars and ClusterVectorSidecars.
const StatusManager = Operator + "-status"

// DeclaredManager is the field manager that applies the VectorSidecars and ClusterVectorSidecars that the
// installation's values declare.
const DeclaredManager = Operator + "-values"

// Creator is the field manager that creates an object, which Operator then fills. Creator does not own fields,
// because another process may already have filled the object.
const Creator = Operator + "-creator"

// Manager returns the field manager that applies the sidecar of a VectorSidecar. The name must never change.
// After a change, the next version of the operator would add a new container and keep the old one
// (test/envtest.TestApply_KeepsContainerOfAnotherManager). The name is derived from the name of the
// VectorSidecar and not from its UID, so that an object restored from a backup still owns the fields that it
// injected.
//
// A ClusterVectorSidecar, which is passed as the result of ClusterSidecarName, has a field manager that differs from
// the field manager of a VectorSidecar with the same name.
func Manager(sidecar string) string {
	names, name := parseName(sidecar)
	return names.prefix + shortenName(name, managerMaxLength-len(names.prefix))
}

// SidecarName returns the name of the VectorSidecar to which a field manager belongs. The result is incomplete if
// Manager shortened the name.
func SidecarName(manager string) string { return strings.TrimPrefix(manager, sidecarNames.prefix) }

// IsManager reports whether a field manager belongs to a VectorSidecar or a ClusterVectorSidecar.
func IsManager(name string) bool {
	return strings.HasPrefix(name, sidecarNames.prefix) || strings.HasPrefix(name, clusterNames.prefix)
}

// ClusterSidecarName returns the name of a ClusterVectorSidecar in the namespaces that it selects:
// clustervectorsidecar/NAME. It cannot match the name of an object, because object names do not contain
// slashes.
func ClusterSidecarName(cluster string) string { return clusterNames.prefix + cluster }

// ParseClusterName returns the name of the ClusterVectorSidecar for a name that ClusterSidecarName returned. It returns false
// for the name of a VectorSidecar.
func ParseClusterName(sidecar string) (name string, isCluster bool) {
	return strings.CutPrefix(sidecar, clusterNames.prefix)
}

// parseName returns the names of the kind of a VectorSidecar, or of a ClusterVectorSidecar given by its name in a
// namespace, and the name of the object itself.
func parseName(sidecar string) (names *kindNames, name string) {
	if name, isCluster := ParseClusterName(sidecar); isCluster {
		return clusterNames, name
	}
	return sidecarNames, sidecar
}

// KindAndName returns the kind and the name of the object of a VectorSidecar, or of a ClusterVectorSidecar given by its
// name in a namespace.
func KindAndName(sidecar string) (kind, name string) {
	names, name := parseName(sidecar)
	return names.kind, name
}

// Title returns the kind and the name of a VectorSidecar, or of a ClusterVectorSidecar given by its name in a
// namespace, for messages.
func Title(sidecar string) string {
	names, name := parseName(sidecar)
	return names.kind + " " + name
}

// TitleIn returns the kind and the name of a VectorSidecar or ClusterVectorSidecar with the namespace, for messages.
func TitleIn(namespace, sidecar string) string {
	names, name := parseName(sidecar)
	return names.kind + " " + fmt.Sprintf(names.inNamespace, namespace, name)
}

// OwnTitle returns the kind and the name of the object of a VectorSidecar or ClusterVectorSidecar, for messages that do not
// concern one namespace.
func OwnTitle(namespace, sidecar string) string {
	if IsOfCluster(sidecar) {
		return Title(sidecar)
	}
	return TitleIn(namespace, sidecar)
}

// IsOfCluster reports whether a name is the name of a ClusterVectorSidecar in a namespace.
func IsOfCluster(sidecar string) bool { return strings.HasPrefix(sidecar, clusterNames.prefix) }

// Argument returns the argument that names a VectorSidecar or ClusterVectorSidecar in a command, such as
// vectorsidecar/NAME.
func Argument(sidecar string) string {
	names, name := parseName(sidecar)
	return names.prefix + name
}

// ObjectName returns a name for the objects that templates create: the name of a VectorSidecar, or cluster-NAME
// for a ClusterVectorSidecar.
func ObjectName(sidecar string) string {
	names, name := parseName(sidecar)
	return names.objectPrefix + name
}

// keyName returns the name of a VectorSidecar or ClusterVectorSidecar in the key of an annotation or the value of
// a label.
func keyName(sidecar string) string {
	names, name := parseName(sidecar)
	return names.keyPrefix + name
}

// people lists the field managers of tools that change objects by hand. Deployment tools (kubectl apply, helm,
// argocd, flux) are not in the list, because a manifest contains the fields that they own, and the next sync
// restores these fields.
var people = []string{
	"kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-replace", "kubectl-rollout",
	"kubectl-annotate", "kubectl-label", "k9s", "node-fetch", "Mozilla", "dashboard",
}

// IsPerson reports whether a write of a field manager counts as a manual change by a user. byUpdate reports whether the
// manager wrote with Update. kubectl is a user only with Update, as for kubectl rollout undo, because deployment tools
// use that name for server-side apply.
func IsPerson(manager string, byUpdate bool) bool {
	return slices.Contains(people, manager) || manager == "kubectl" && byUpdate
}

// IsByHand reports whether the last recorded field manager of an object is a tool that users run by hand, which
// includes kubectl in any mode. A removal by hand is not a removal by the controller owner.
func IsByHand(manager string) bool {
	return strings.HasPrefix(manager, "kubectl") || IsPerson(manager, true)
}

// shortenName returns names that do not exceed the limit unchanged. It cuts longer names and appends a digest,
// which keeps them unique.
func shortenName(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	return name[:limit-17] + "-" + Digest([]byte(name), 8)
}
