// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// IsAdmissionInjected reports whether an annotation of the pod template lists items for the manager, although
// managedFields do not show that the manager wrote them. Either the API server has injected the items, because fields
// that a MutatingAdmissionPolicy adds have no field manager, or a rollback has restored them. For kinds with atomic
// lists, it reports whether the annotations of a write are missing.
func (o *OwnedFields) IsAdmissionInjected() bool {
	if o.IsRecorded {
		return o.InjectedHash == "" && o.InputHash == "" && !o.IsEmpty()
	}
	return o.Hash == "" && !o.Patched && !o.Named && len(o.Leftovers) > 0
}

// IsAdmissionInjectedAs reports whether the injected fields are exactly the fields of a pod template to apply, plus the API
// server's defaults. An apply of this template then does not change pods.
func (o *OwnedFields) IsAdmissionInjectedAs(template map[string]any) bool {
	if !o.IsAdmissionInjected() {
		return false
	}
	live, desired := tree.MapAt(o.Tree, "spec", "template"), template
	if !isSameJSON(tree.MapAt(live, "metadata", "annotations"), tree.MapAt(desired, "metadata", "annotations")) || len(tree.MapAt(desired, "metadata", "labels")) > 0 {
		return false
	}
	for _, list := range podLists {
		liveItems, desiredItems := tree.List(tree.MapAt(live, "spec")[list]), tree.List(tree.MapAt(desired, "spec")[list])
		if !isDefaulted(list, liveItems, desiredItems) {
			return false
		}
	}
	return true
}

func isSameJSON(a, b any) bool { return jsonText(a) == jsonText(b) }

// defaults are the values that the API server sets for missing fields in containers and volumes of a pod template. If
// this map lacks a default, the operator sends one more request, but no rollout starts.
var defaults = map[string][]string{
	"terminationMessagePath":   {`"/dev/termination-log"`},
	"terminationMessagePolicy": {`"File"`},
	"imagePullPolicy":          {`"IfNotPresent"`, `"Always"`},
	"pullPolicy":               {`"IfNotPresent"`, `"Always"`},
	"protocol":                 {`"TCP"`},
	"timeoutSeconds":           {`1`},
	"periodSeconds":            {`10`},
	"successThreshold":         {`1`},
	"failureThreshold":         {`3`},
	"scheme":                   {`"HTTP"`},
	"apiVersion":               {`"v1"`},
	"defaultMode":              {`420`},
	"divisor":                  {`"0"`},
	"expirationSeconds":        {`3600`},
	"volumeMode":               {`"Filesystem"`},
	"resources":                {`{}`},
	"type":                     {`""`},
}

// isDefaulted reports whether a live value is equal to the desired value plus the API server's defaults.
func isDefaulted(key string, live, desired any) bool {
	switch expected := desired.(type) {
	case map[string]any:
		liveMap, isMap := live.(map[string]any)
		if !isMap {
			return false
		}
		for name := range expected {
			if _, isThere := liveMap[name]; !isThere {
				return false
			}
		}
		for name, value := range liveMap {
			expectedValue, isGiven := expected[name]
			switch {
			case isGiven && !isDefaulted(name, value, expectedValue):
				return false
			case !isGiven && !slices.Contains(defaults[name], jsonText(value)):
				return false
			}
		}
		return true
	case []any:
		liveList, _ := live.([]any)
		if len(liveList) != len(expected) {
			return false
		}
		if slices.Contains(keyed, key) {
			liveList, expected = sortKeyedItems(liveList), sortKeyedItems(expected)
		}
		for i := range expected {
			if !isDefaulted("", liveList[i], expected[i]) {
				return false
			}
		}
		return true
	}
	return isSameJSON(live, desired)
}

// sortKeyedItems returns the items of a keyed list, sorted by their merge keys.
func sortKeyedItems(items []any) []any {
	key := func(item any) string {
		fields := maps.Clone(tree.Map(item))
		maps.DeleteFunc(fields, func(name string, _ any) bool {
			return !slices.Contains([]string{"name", "mountPath", "containerPort", "devicePath"}, name)
		})
		if _, isPort := fields["containerPort"]; isPort {
			delete(fields, "name")
			fields["protocol"] = "TCP"
			if protocol, isGiven := tree.Map(item)["protocol"]; isGiven {
				fields["protocol"] = protocol
			}
		}
		if _, isMount := fields["mountPath"]; isMount {
			delete(fields, "name")
		}
		return jsonText(fields)
	}
	sorted := slices.Clone(items)
	slices.SortFunc(sorted, func(a, b any) int {
		if x, y := key(a), key(b); x != y {
			if x < y {
				return -1
			}
			return 1
		}
		return 0
	})
	return sorted
}
