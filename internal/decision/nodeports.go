// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// nodePortsInterval is the time after which the operator checks again whether another container still uses a node port.
const nodePortsInterval = time.Minute

// portUser returns another workload on the same nodes with a container that listens on a port or is about to. container is
// "" if there is none.
func (e *evaluation) portUser(g *gateInput, port workload.NodePort) (workloadRef workload.Ref, container string) {
	view := g.view
	for _, earlier := range g.claims {
		if slices.Contains(earlier.ports, port) && view.SharesNodes(earlier.view) {
			return earlier.view.Ref, "the sidecar"
		}
	}
	if e.OnNodes == nil {
		return workload.Ref{}, ""
	}
	for _, record := range e.OnNodes() {
		if record.UID == view.UID && record.Name == view.Name && record.Namespace == view.Namespace {
			continue
		}
		nodeView := record.View()
		if user := nodeView.ContainerOnPort(port); user != "" && view.SharesNodes(&nodeView) {
			return nodeView.Ref, user
		}
	}
	return workload.Ref{}, ""
}
