// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// IsPutIn reports whether the pod template lists items for the manager, although managedFields do not record a
// write of them. The API server has injected them, because fields that a MutatingAdmissionPolicy adds have no
// field manager, or a rollback has restored a revision. If only the pod template records the items, the
// workload then has no annotations about the write.
func (o *Owned) IsPutIn() bool {
	if o.IsRecorded {
		return o.InjectedHash == "" && o.AskedHash == "" && !o.IsEmpty()
	}
	return o.Hash == "" && !o.Patched && !o.Named && len(o.Leftovers) > 0
}

// IsPutInAs reports whether the injected fields are exactly a pod template as it is applied, plus the API
// server's defaults. Applying this template then does not change pods.
func (o *Owned) IsPutInAs(template map[string]any) bool {
	if !o.IsPutIn() {
		return false
	}
	has, want := tree.MapAt(o.Tree, "spec", "template"), template
	if !isSame(tree.MapAt(has, "metadata", "annotations"), tree.MapAt(want, "metadata", "annotations")) || len(tree.MapAt(want, "metadata", "labels")) > 0 {
		return false
	}
	for _, list := range podLists {
		there, wanted := tree.List(tree.MapAt(has, "spec")[list]), tree.List(tree.MapAt(want, "spec")[list])
		if !isDefaulted(list, there, wanted) {
			return false
		}
	}
	return true
}

func isSame(a, b any) bool { return jsonText(a) == jsonText(b) }

// defaults are the values that the API server sets in the containers and volumes of a pod template for missing
// fields. A default that is missing here costs one more request, but no rollout.
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

// isDefaulted reports whether a live value equals the desired value plus defaults.
func isDefaulted(key string, live, wanted any) bool {
	switch want := wanted.(type) {
	case map[string]any:
		has, isMap := live.(map[string]any)
		if !isMap {
			return false
		}
		for name := range want {
			if _, isThere := has[name]; !isThere {
				return false
			}
		}
		for name, value := range has {
			given, isGiven := want[name]
			switch {
			case isGiven && !isDefaulted(name, value, given):
				return false
			case !isGiven && !slices.Contains(defaults[name], jsonText(value)):
				return false
			}
		}
		return true
	case []any:
		has, _ := live.([]any)
		if len(has) != len(want) {
			return false
		}
		if slices.Contains(keyed, key) {
			has, want = ordered(has), ordered(want)
		}
		for i := range want {
			if !isDefaulted("", has[i], want[i]) {
				return false
			}
		}
		return true
	}
	return isSame(live, wanted)
}

// ordered sorts the items of a keyed list by their keys.
func ordered(items []any) []any {
	key := func(item any) string {
		of := maps.Clone(tree.Map(item))
		maps.DeleteFunc(of, func(name string, _ any) bool {
			return !slices.Contains([]string{"name", "mountPath", "containerPort", "devicePath"}, name)
		})
		if _, isPort := of["containerPort"]; isPort {
			delete(of, "name")
			of["protocol"] = "TCP"
			if given, isGiven := tree.Map(item)["protocol"]; isGiven {
				of["protocol"] = given
			}
		}
		if _, isMount := of["mountPath"]; isMount {
			delete(of, "name")
		}
		return jsonText(of)
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
