// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// IP families, as in global.ipFamily.
const (
	IPv4 = "IPv4"
	IPv6 = "IPv6"
	// autoFamily has the cluster decide.
	autoFamily = "Auto"
)

// Platforms, as in .Values.cluster.platform.
const (
	Kubernetes = "Kubernetes"
	// OpenShift assigns pods their users.
	OpenShift = "OpenShift"
)

// Cluster is what templates see of the cluster that they render for, as .Values.cluster. Its
// zero value is one of Kubernetes alone, whose pods have IPv4 addresses.
type Cluster struct {
	// IPFamily is that of the first address of pods, at which the kubelet probes them: IPv4 or
	// IPv6; "" is IPv4.
	IPFamily string
	// Platform is Kubernetes or OpenShift; "" is Kubernetes.
	Platform string
	// Kubelet is a version that no kubelet is older than, such as "v1.33.0"; "" is that of the
	// API server.
	Kubelet string
}

// values are what templates see, with an API server's version.
func (c *Cluster) values(kubeVersion string) map[string]any {
	return map[string]any{
		"ipFamily": cmp.Or(c.IPFamily, IPv4), "platform": cmp.Or(c.Platform, Kubernetes), "kubelet": cmp.Or(c.Kubelet, kubeVersion),
	}
}

// IPFamily is the family of addresses that Vector is to listen on: IPv4, IPv6 or Dual.
func (r *Request) IPFamily() string {
	if family := tree.Text(r.Values.Tree, "global", "ipFamily"); family != "" && family != autoFamily {
		return family
	}
	return cmp.Or(r.Cluster.IPFamily, IPv4)
}
