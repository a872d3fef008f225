// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clusterwide

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is a namespace that a ClusterVectorSidecar selects.
type Namespace struct {
	Name string
	// Environment is the environment of the ClusterVectorSidecar in this namespace.
	Environment string
	Created     metav1.Time
}

// Sample returns the names of at most limit namespaces that represent all of them: the oldest of each environment,
// and then the oldest of the others. environments is the number of names that represent an environment; they come
// first.
func Sample(namespaces []Namespace, limit int) (names []string, environments int) {
	namespaces = slices.SortedFunc(slices.Values(namespaces), func(a, b Namespace) int {
		return cmp.Or(a.Created.Compare(b.Created.Time), strings.Compare(a.Name, b.Name))
	})
	sampled := map[string]bool{}
	var extra []string
	for _, namespace := range namespaces {
		if sampled[namespace.Environment] {
			extra = append(extra, namespace.Name)
			continue
		}
		sampled[namespace.Environment] = true
		names = append(names, namespace.Name)
	}
	names = names[:min(len(names), limit)]
	return append(names, extra[:min(len(extra), limit-len(names))]...), len(names)
}
