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
	// autoFamily selects the IP family of the cluster.
	autoFamily = "Auto"
)

// Platforms, as in .Values.cluster.platform.
const (
	Kubernetes = "Kubernetes"
	// OpenShift is the platform that assigns user IDs to pods.
	OpenShift = "OpenShift"
)

// Cluster contains the properties of the target cluster, which templates read as .Values.cluster. The zero value is
// plain Kubernetes with IPv4 pod addresses.
type Cluster struct {
	// IPFamily is the family of the first pod address, which the kubelet probes: IPv4 or IPv6. "" means IPv4.
	IPFamily string
	// Platform is Kubernetes or OpenShift. "" means Kubernetes.
	Platform string
	// Kubelet is a version such as "v1.33.0". No kubelet is older. "" means the version of the API server.
	Kubelet string
}

// templateValues returns .Values.cluster for a version of the API server.
func (c *Cluster) templateValues(kubeVersion string) map[string]any {
	return map[string]any{
		"ipFamily": cmp.Or(c.IPFamily, IPv4), "platform": cmp.Or(c.Platform, Kubernetes), "kubelet": cmp.Or(c.Kubelet, kubeVersion),
	}
}

// IPFamily returns the family of the addresses that Vector listens on: IPv4, IPv6 or Dual.
func (r *Request) IPFamily() string {
	if family := tree.Text(r.Values.Tree, "global", "ipFamily"); family != "" && family != autoFamily {
		return family
	}
	return cmp.Or(r.Cluster.IPFamily, IPv4)
}
