// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// nodePortsAgain is the time after which the operator checks again whether another container still uses a node port.
// The other workload's namespace may not send events to the VectorSidecar.
const nodePortsAgain = time.Minute

// keepNodePorts blocks a write after which two workloads would listen on the same port of the same nodes. The pods of
// one of the workloads would not start.
func (d *Decision) keepNodePorts(facts *Facts, p *plan.Plan, record *workloadcache.Record) {
	if !p.Target.Adapter().Traits.OnEveryNode || !p.Writes() {
		return
	}
	view := record.View()
	ports := p.NodePorts(&view)
	if len(ports) == 0 {
		return
	}
	for _, port := range ports {
		if user, container := d.userOf(facts, &view, port); container != "" {
			p.BlockByNodePort(port, user, container)
			d.again(nodePortsAgain)
			return
		}
	}
	d.claims = append(d.claims, claim{view, ports})
}

// userOf returns another workload on the same nodes, and its container, that listens on a port or will do so.
func (d *Decision) userOf(facts *Facts, view *workload.View, port workload.NodePort) (workloadRef workload.Ref, container string) {
	for i := range d.claims {
		earlier := &d.claims[i]
		for _, claimed := range earlier.ports {
			if claimed == port && view.SharesNodes(&earlier.view) {
				return earlier.view.Ref, "the sidecar"
			}
		}
	}
	for _, record := range facts.NodeWorkloads {
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
