// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// podLists are the lists of a pod that a sidecar adds items to.
var podLists = []string{"initContainers", "containers", "volumes"}

// deployed are the names of items that a deployer's manifest holds, by the name of
// their list: containers whose image it sets, and volumes. Nobody but the deployer
// may take them out.
type deployed map[string][]string

func (d deployed) container(name string) bool {
	return slices.Contains(d["initContainers"], name) || slices.Contains(d["containers"], name)
}

func (d deployed) volume(name string) bool { return slices.Contains(d["volumes"], name) }

// deployedIn reads the records of all deployers.
func deployedIn(entries []metav1.ManagedFieldsEntry) deployed {
	all := deployed{}
	for i := range entries {
		if !isDeployer(&entries[i]) {
			continue
		}
		eachItem(podFields(&entries[i]), func(list, name string) {
			all[list] = append(all[list], name)
		})
	}
	return all
}

func isDeployer(entry *metav1.ManagedFieldsEntry) bool {
	byUpdate := entry.Operation == metav1.ManagedFieldsOperationUpdate
	return entry.FieldsV1 != nil && entry.Subresource == "" && !meta.IsManager(entry.Manager) && !meta.IsPerson(entry.Manager, byUpdate)
}

// podFields returns the managed fields below spec.template.spec.
func podFields(entry *metav1.ManagedFieldsEntry) map[string]any {
	var fields map[string]any
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return nil
	}
	for _, key := range []string{"f:spec", "f:template", "f:spec"} {
		fields = tree.Map(fields[key])
	}
	return fields
}

// eachItem visits the items that a deployer's manifest holds.
func eachItem(pod map[string]any, visit func(list, name string)) {
	for _, list := range podLists {
		items := tree.Map(pod["f:"+list])
		for _, key := range slices.Sorted(maps.Keys(items)) {
			text, isItem := strings.CutPrefix(key, "k:")
			var keys struct{ Name string }
			if !isItem || json.Unmarshal([]byte(text), &keys) != nil {
				continue
			}
			if _, setsImage := tree.Map(items[key])["f:image"]; setsImage || list == "volumes" {
				visit(list, keys.Name)
			}
		}
	}
}
