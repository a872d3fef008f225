// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// podLists are the lists of a pod to which a sidecar adds items.
var podLists = []string{"initContainers", "containers", "volumes", pullSecrets}

// pullSecrets is the field name of a list with items that have only a name. Other field managers may list the
// same names.
const pullSecrets = "imagePullSecrets"

// podMaps are the maps of the pods' metadata to which a sidecar adds keys.
var podMaps = []string{"annotations", "labels"}

// deployed contains the items that are in the manifests of deployment tools: containers with an image, volumes, pull
// secrets, and keys of pod annotations and labels. The operator must not remove them. They are read from managedFields
// on first use, because they are rarely needed.
type deployed struct {
	object Object
	items  map[string][]string // names by list, keys by map; nil before the first read
}

// hasContainer reports whether a container with a name is in a manifest of a deployment tool.
func (d *deployed) hasContainer(name string) bool {
	items := d.readItems()
	return slices.Contains(items["initContainers"], name) || slices.Contains(items["containers"], name)
}

func (d *deployed) hasVolume(name string) bool {
	return slices.Contains(d.readItems()["volumes"], name)
}

// hasKey reports whether a deployment tool owns a key of the pods' annotations or labels.
func (d *deployed) hasKey(mapName, key string) bool {
	return slices.Contains(d.readItems()[mapName], key)
}

func (d *deployed) hasPullSecret(name string) bool {
	return slices.Contains(d.readItems()[pullSecrets], name)
}

// readItems returns the items in the manifests of deployment tools, which it reads at the first call.
func (d *deployed) readItems() map[string][]string {
	if d.items == nil {
		d.items = deployedItems(d.object.GetManagedFields())
		d.items[pullSecrets] = append(d.items[pullSecrets], pullSecretsInManifest(d.object)...)
	}
	return d.items
}

// deployedItems returns the items that deployment tools own according to managedFields.
func deployedItems(entries []metav1.ManagedFieldsEntry) map[string][]string {
	items := map[string][]string{}
	for i := range entries {
		if !isDeployer(&entries[i]) {
			continue
		}
		fields, _ := decodeFields(&entries[i])
		visitDeployedItems(podFields(fields), func(list, name string) {
			items[list] = append(items[list], name)
		})
		for _, mapName := range podMaps {
			for field := range tree.MapAt(fields, "f:spec", "f:template", "f:metadata", "f:"+mapName) {
				if key, isKey := strings.CutPrefix(field, "f:"); isKey {
					items[mapName] = append(items[mapName], key)
				}
			}
		}
	}
	return items
}

// pullSecretsInManifest returns the pull secrets in the manifest that kubectl stores for client-side apply.
// managedFields are not sufficient, because a tool that sends differences does not own items that already
// existed.
func pullSecretsInManifest(object Object) []string {
	var manifest map[string]any
	text := object.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	if text == "" || bounded.Object().DecodeJSON([]byte(text), &manifest) != nil {
		return nil
	}
	var names []string
	for _, item := range tree.List(tree.MapAt(tree.MapAt(manifest, objectKind(object).Template...), "spec")[pullSecrets]) {
		names = append(names, tree.Name(item))
	}
	return names
}

// isDeployer reports whether a managedFields entry belongs to a deployment tool. All managers except the operator's and
// users' are deployment tools.
func isDeployer(entry *metav1.ManagedFieldsEntry) bool {
	byUpdate := entry.Operation == metav1.ManagedFieldsOperationUpdate
	return entry.FieldsV1 != nil && entry.Subresource == "" && !meta.IsManager(entry.Manager) && !meta.IsPerson(entry.Manager, byUpdate)
}

// podPath is the path to the pod spec in managed fields.
var podPath = []string{"f:spec", "f:template", "f:spec"}

// podFields returns the managed fields below spec.template.spec.
func podFields(fields map[string]any) map[string]any { return tree.MapAt(fields, podPath...) }

// itemName returns the name in a key of managed fields that identifies a list item. It returns false for other
// keys.
func itemName(key string) (name string, isItem bool) {
	text, isItem := strings.CutPrefix(key, "k:")
	var keys struct{ Name string }
	if !isItem || json.Unmarshal([]byte(text), &keys) != nil {
		return "", false
	}
	return keys.Name, true
}

// visitDeployedItems calls visit for each item in the managed fields of a pod that a manifest of a deployment tool
// defines.
func visitDeployedItems(pod map[string]any, visit func(list, name string)) {
	for _, list := range podLists {
		items := tree.Map(pod["f:"+list])
		for _, key := range slices.Sorted(maps.Keys(items)) {
			name, isItem := itemName(key)
			if !isItem {
				continue
			}
			if _, setsImage := tree.Map(items[key])["f:image"]; setsImage || list == "volumes" || list == pullSecrets {
				visit(list, name)
			}
		}
	}
}
