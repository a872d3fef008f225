// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"encoding/json"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// AppliedHash returns a digest of all fields that the operator has written to a workload: hash is the Hash of the
// applied fields, and mounts are the mounts in the application's containers. Later releases must compute the same
// digest, because workloads store it.
func AppliedHash(hash string, mounts []Mount) string {
	if len(mounts) == 0 {
		return hash
	}
	mounts = slices.SortedFunc(slices.Values(mounts), func(a, b Mount) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.MountPath, b.MountPath))
	})
	text, _ := json.Marshal([]any{hash, mounts}) // Strings and booleans always marshal.
	return meta.Digest(text, 12)
}

// IsAsWritten reports whether a manager's live fields are equal to the fields of its last write, which an
// annotation of the workload records.
func (v *View) IsAsWritten(manager string) bool {
	owned := v.Owned[manager]
	return owned.AppliedHash != "" && len(owned.Leftovers) == 0 && owned.AppliedHash == AppliedHash(owned.Hash, v.OwnedMounts(manager))
}

// ConfigMaps returns the names of the ConfigMaps that the manager's volumes refer to.
func (o *OwnedFields) ConfigMaps() []string {
	var names []string
	add := func(source map[string]any) {
		if name := tree.Name(source); name != "" {
			names = append(names, name)
		}
	}
	for _, volume := range tree.List(tree.MapAt(o.Tree, tree.Pod...)["volumes"]) {
		add(tree.MapAt(tree.Map(volume), "configMap"))
		for _, source := range tree.List(tree.MapAt(tree.Map(volume), "projected")["sources"]) {
			add(tree.MapAt(tree.Map(source), "configMap"))
		}
	}
	return names
}

// ConfigVersion returns the value of the annotation configmap-version, or "" if the manager does not own it.
func (o *OwnedFields) ConfigVersion() string {
	for key, value := range tree.MapAt(o.Tree, "metadata", "annotations") {
		if meta.IsAnnotationKey(key, meta.AnnotationConfigMapVersion) {
			version, _ := value.(string)
			return version
		}
	}
	return ""
}
