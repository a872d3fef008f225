// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// NodePorts returns the ports of the node on which the sidecar listens after the plan's write. It returns nil if the
// plan does not inject or update the sidecar.
func (p *Plan) NodePorts(view *workload.View) []workload.NodePort {
	if !p.HasChange(Inject, Update) || p.Desired == nil {
		return nil
	}
	var ports []workload.NodePort
	spec := &p.Desired.overlay.Template.Spec
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			ports = append(ports, workload.NodePorts(list[i].Ports, view.HostNetwork)...)
		}
	}
	return ports
}
