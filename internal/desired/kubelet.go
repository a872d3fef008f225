// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Kubelet is the oldest kubelet of a cluster. The zero value means that the nodes cannot be read or that the
// cluster has no nodes.
type Kubelet struct {
	// Version is the version of the kubelet, such as "v1.29.4". Node is the name of one node with this version.
	Version, Node string
}

// startWarning returns a warning if the oldest kubelet cannot start pods with an overlay, or "" if it can.
func (k *Kubelet) startWarning(overlay *workload.Overlay) string {
	oldest, err := version.ParseGeneric(k.Version)
	if err != nil || oldest.AtLeast(version.MustParseGeneric(workload.FirstNative)) || !overlay.HasNative() {
		return ""
	}
	return fmt.Sprintf("the sidecar is a native sidecar, which kubelet %s of node %s does not support, so that new pods on this node stay in Init; upgrade the node, schedule these pods on other nodes, or set sidecar.native to Never", k.Version, k.Node)
}
