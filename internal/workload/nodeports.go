// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NodePort is a port of the node on which a container listens.
type NodePort struct {
	Port     int32
	Protocol corev1.Protocol
}

// NodePorts returns the ports of the node that a container occupies: its host ports, or all of its ports if the pod
// uses the host network.
func NodePorts(ports []corev1.ContainerPort, hostNetwork bool) []NodePort {
	var nodePorts []NodePort
	for _, port := range ports {
		number := port.HostPort
		if hostNetwork {
			number = port.ContainerPort
		}
		if number > 0 {
			nodePorts = append(nodePorts, NodePort{number, cmp.Or(port.Protocol, corev1.ProtocolTCP)})
		}
	}
	return nodePorts
}

// ContainerOnPort returns the name of the container that uses a port of the node, or "" for none.
func (v *View) ContainerOnPort(port NodePort) string {
	for i := range v.Containers {
		for _, used := range NodePorts(v.Containers[i].Ports, v.HostNetwork) {
			if used == port {
				return v.Containers[i].Name
			}
		}
	}
	return ""
}

// nodeLabels returns the labels that a node must have to run the pod. They are the labels of the node selector,
// and the labels with the same single value in all terms of the required node affinity.
func nodeLabels(pod *corev1.PodSpec) map[string]string {
	terms := slices.DeleteFunc(slices.Clone(requiredTerms(pod)), isEmptyTerm)
	var labels map[string]string
	for i := range terms {
		required := map[string]string{}
		for _, expression := range terms[i].MatchExpressions {
			if expression.Operator == corev1.NodeSelectorOpIn && len(expression.Values) == 1 {
				required[expression.Key] = expression.Values[0]
			}
		}
		if i == 0 {
			labels = required
			continue
		}
		maps.DeleteFunc(labels, func(key, value string) bool { return required[key] != value })
	}
	if len(labels) == 0 {
		return pod.NodeSelector
	}
	maps.Copy(labels, pod.NodeSelector)
	return labels
}

// isEmptyTerm reports whether a node selector term is empty. An empty term does not match any node.
func isEmptyTerm(term corev1.NodeSelectorTerm) bool {
	return len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0
}

// SharesNodes reports whether pods of two workloads may run on the same node. Both workloads must run a pod on every
// node that they select. The result is false if they require different values of a node label.
func (v *View) SharesNodes(other *View) bool {
	for key, value := range v.NodeSelector {
		if otherValue, isGiven := other.NodeSelector[key]; isGiven && otherValue != value {
			return false
		}
	}
	return true
}
