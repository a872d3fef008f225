// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"slices"
	"strings"
)

const (
	managerPrefix = "vectorsidecar/"
	// The API server refuses field manager names that are longer.
	managerMaxLength = 128
)

// Operator is the field manager of what the operator writes that is no merge:
// finalizers and status. It is also the name of the operator in events.
const Operator = "vector-sidecar-operator"

// Creator is the field manager under which an object is made that Operator fills. It
// owns no field: what one process makes, another one may have filled already.
const Creator = Operator + "-creator"

// Manager is the field manager under which everything of one VectorSidecar is
// applied. The name is frozen: with another one, the next version of the
// operator would leave the old container beside the new (fact 13 of server-side
// apply). It comes from the name and not the UID, so that an object restored
// from a backup still owns what it injected.
func Manager(sidecar string) string {
	return managerPrefix + shorten(sidecar, managerMaxLength-len(managerPrefix))
}

// SidecarOf returns what follows in a field manager's name: the name of the
// VectorSidecar, shortened if it is long.
func SidecarOf(manager string) string { return strings.TrimPrefix(manager, managerPrefix) }

// IsManager tells whether a field manager is one of Manager's.
func IsManager(name string) bool { return strings.HasPrefix(name, managerPrefix) }

// people are the field managers of programs with which a person changes an object
// by hand. Whatever deploys (kubectl apply, helm, argocd, flux) is none of them:
// what a deployer owns is written in a manifest and comes back.
var people = []string{
	"kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-replace", "kubectl-rollout",
	"kubectl-annotate", "kubectl-label", "k9s", "node-fetch", "Mozilla", "dashboard",
}

// IsPerson tells whether a field manager stands for a person. kubectl writes as
// "kubectl" when a person undoes a rollout, by an update, and when a deployer
// applies on the server's side.
func IsPerson(manager string, byUpdate bool) bool {
	return slices.Contains(people, manager) || manager == "kubectl" && byUpdate
}

// shorten keeps names of up to limit characters, and ends longer ones with a
// digest that tells them apart.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	return name[:limit-17] + "-" + Digest([]byte(name), 8)
}
