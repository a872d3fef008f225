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

// wholePorts is a list of ports that a patch has to replace.
type wholePorts struct {
	list, container string
	ports           []any
}

// takePorts removes lists of ports in which one number has two protocols from both trees. It returns the
// desired lists that differ. A strategic merge patch merges ports only by number, but the API server keeps
// ports by number and protocol. The patch would therefore change or remove the port of the other protocol.
func takePorts(from, to map[string]any, view *workload.View) []wholePorts {
	var whole []wholePorts
	before, after := tree.MapAt(from, tree.Pod...), tree.MapAt(to, tree.Pod...)
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(after[list]) {
			at := slices.IndexFunc(tree.List(before[list]), func(other any) bool { return tree.Name(other) == tree.Name(item) })
			if at < 0 {
				continue
			}
			from, to := tree.Map(tree.List(before[list])[at]), tree.Map(item)
			was, is := tree.List(from["ports"]), tree.List(to["ports"])
			live := livePorts(view, tree.Name(item), list == "initContainers")
			if !shareNumber(was, is, live) {
				continue
			}
			delete(from, "ports")
			delete(to, "ports")
			if !sameJSON(was, is) {
				whole = append(whole, wholePorts{list, tree.Name(item), inPlace(live, was, is)})
			}
		}
	}
	return whole
}

// livePorts returns the ports of a container, including ports of other field managers.
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

// shareNumber reports whether ports of different protocols have one number.
func shareNumber(all ...[]any) bool {
	keys := map[string]string{}
	for _, key := range portKeys(slices.Concat(all...)) {
		number, _, _ := strings.Cut(key, "/")
		if other, isKnown := keys[number]; isKnown && other != key {
			return true
		}
		keys[number] = key
	}
	return false
}

// inPlace returns the live ports after some of them are replaced. Ports of other field managers stay.
func inPlace(live, was, is []any) []any {
	keys, liveKeys, wasKeys := portKeys(is), portKeys(live), portKeys(was)
	ports := []any{}
	for i, port := range is {
		merged := map[string]any{}
		if at := slices.Index(liveKeys, keys[i]); at >= 0 {
			merged = tree.Map(live[at])
		}
		if at := slices.Index(wasKeys, keys[i]); at >= 0 {
			for field := range tree.Map(was[at]) {
				delete(merged, field)
			}
		}
		maps.Copy(merged, tree.Map(port))
		ports = append(ports, merged)
	}
	for i, port := range live {
		if !slices.Contains(wasKeys, liveKeys[i]) && !slices.Contains(keys, liveKeys[i]) {
			ports = append(ports, port)
		}
	}
	return ports
}

func portKeys(ports []any) []string { return workload.ItemKeys("ports", ports) }

// putPorts adds replacements of lists of ports to a patch.
func putPorts(patch, to map[string]any, whole []wholePorts) {
	for _, of := range whole {
		pod := tree.EnsureMap(patch, tree.Pod...)
		containerIn(pod, of.list, of.container)["ports"] = append([]any{map[string]any{"$patch": "replace"}}, of.ports...)
		var order []string
		for _, item := range tree.List(tree.MapAt(to, tree.Pod...)[of.list]) {
			order = append(order, tree.Name(item))
		}
		sortAs(order, tree.List(pod[of.list])) // Items of a patch must be in the order of the list.
	}
}
