// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// nodePortsAgain is when a port of the node is looked at again that somebody else has: the
// workload may be of a namespace whose events do not concern the VectorSidecar.
const nodePortsAgain = time.Minute

// keepNodePorts blocks a write that would have two workloads listen at one port of the same
// nodes: the pods of one of them would not start.
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

// userOf returns another workload on the same nodes, and its container, that listens at a
// port or will.
func (d *Decision) userOf(facts *Facts, view *workload.View, port workload.NodePort) (workloadRef workload.Ref, container string) {
	for i := range d.claims {
		earlier := &d.claims[i]
		for _, claimed := range earlier.ports {
			if claimed == port && view.SharesNodes(&earlier.view) {
				return earlier.view.Ref, "the sidecar"
			}
		}
	}
	for _, record := range facts.OnNodes {
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
