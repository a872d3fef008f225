// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// portList is the complete list of a container's ports that a patch must set as a whole.
type portList struct {
	list, container string
	ports           []any
}

// extractPortLists removes the lists of ports in which one number has two protocols from both trees. It returns the new
// lists of the containers with changed ports. A strategic merge patch merges ports only by number, but the API server
// identifies them by number and protocol. Such a patch would change or remove the port with the other protocol.
func extractPortLists(current, desired map[string]any, view *workload.View) []portList {
	var replacements []portList
	currentPod, desiredPod := tree.MapAt(current, tree.Pod...), tree.MapAt(desired, tree.Pod...)
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(desiredPod[list]) {
			i := slices.IndexFunc(tree.List(currentPod[list]), func(candidate any) bool { return tree.Name(candidate) == tree.Name(item) })
			if i < 0 {
				continue
			}
			currentContainer, desiredContainer := tree.Map(tree.List(currentPod[list])[i]), tree.Map(item)
			currentPorts, desiredPorts := tree.List(currentContainer["ports"]), tree.List(desiredContainer["ports"])
			live := livePorts(view, tree.Name(item), list == "initContainers")
			if !shareNumber(currentPorts, desiredPorts, live) {
				continue
			}
			delete(currentContainer, "ports")
			delete(desiredContainer, "ports")
			if !equalJSON(currentPorts, desiredPorts) {
				replacements = append(replacements, portList{list, tree.Name(item), mergePorts(live, currentPorts, desiredPorts)})
			}
		}
	}
	return replacements
}

// livePorts returns all ports that a container has in the workload, including ports of other field managers.
func livePorts(view *workload.View, container string, isInit bool) []any {
	var ports []any
	for _, c := range view.Containers {
		if c.Name != container || c.Init != isInit {
			continue
		}
		for i := range c.Ports {
			// Every value of the type converts.
			port, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(&c.Ports[i])
			ports = append(ports, port)
		}
	}
	return ports
}

// shareNumber reports whether two ports in the lists have the same number and different protocols.
func shareNumber(lists ...[]any) bool {
	keys := map[string]string{}
	for _, key := range portKeys(slices.Concat(lists...)) {
		number, _, _ := strings.Cut(key, "/")
		if existing, ok := keys[number]; ok && existing != key {
			return true
		}
		keys[number] = key
	}
	return false
}

// mergePorts replaces the current ports by the desired ports in the list of live ports. Ports of other field managers
// stay.
func mergePorts(live, current, desired []any) []any {
	keys, liveKeys, currentKeys := portKeys(desired), portKeys(live), portKeys(current)
	ports := []any{}
	for i, port := range desired {
		merged := map[string]any{}
		if pos := slices.Index(liveKeys, keys[i]); pos >= 0 {
			merged = tree.Map(live[pos])
		}
		if pos := slices.Index(currentKeys, keys[i]); pos >= 0 {
			for field := range tree.Map(current[pos]) {
				delete(merged, field)
			}
		}
		maps.Copy(merged, tree.Map(port))
		ports = append(ports, merged)
	}
	for i, port := range live {
		if !slices.Contains(currentKeys, liveKeys[i]) && !slices.Contains(keys, liveKeys[i]) {
			ports = append(ports, port)
		}
	}
	return ports
}

// portKeys returns the key of each port: its number and protocol.
func portKeys(ports []any) []string { return workload.ItemKeys("ports", ports) }

// addPortLists adds the complete lists of ports to a patch.
func addPortLists(patch, desired map[string]any, replacements []portList) {
	for _, replacement := range replacements {
		pod := tree.EnsureMap(patch, tree.Pod...)
		containerIn(pod, replacement.list, replacement.container)["ports"] = append([]any{map[string]any{"$patch": "replace"}}, replacement.ports...)
		var order []string
		for _, item := range tree.List(tree.MapAt(desired, tree.Pod...)[replacement.list]) {
			order = append(order, tree.Name(item))
		}
		sortByOrder(order, tree.List(pod[replacement.list])) // Items of a patch must be in the order of the list.
	}
}
