// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// deepest is the maximum number of levels of keys that have separate digests.
const maxDigestLevels = 6

// Digests returns a digest for each key in merged JSON trees. The result has the shape of the trees. Later
// trees override earlier trees. Workloads keep digests from one release to the next. If a release computed
// other digests, all keys would be reported as changed once.
func Digests(trees ...map[string]any) map[string]any {
	merged := map[string]any{}
	for _, values := range trees {
		mergeDigests(merged, tree.Map(digestTree(values, maxDigestLevels)))
	}
	return merged
}

// ConfigMapDigests returns a digest for each key of a ConfigMap.
func ConfigMapDigests(object *corev1.ConfigMap) map[string]any {
	content := map[string]any{}
	for key, text := range object.Data {
		content[key] = text
	}
	for key, data := range object.BinaryData {
		content[key] = data
	}
	return Digests(content)
}

func digestTree(values map[string]any, depth int) any {
	if len(values) == 0 || depth == 0 {
		return digest(values)
	}
	result := make(map[string]any, len(values))
	for key, value := range values {
		if branch, isMap := value.(map[string]any); isMap {
			result[key] = digestTree(branch, depth-1)
			continue
		}
		result[key] = digest(value)
	}
	return result
}

// mergeDigests merges digests into base digests. A digest in overlay replaces the base digest of the same key.
func mergeDigests(base, overlay map[string]any) {
	for key, node := range overlay {
		baseBranch, overlayBranch := tree.Map(base[key]), tree.Map(node)
		if baseBranch != nil && overlayBranch != nil {
			mergeDigests(baseBranch, overlayBranch)
			continue
		}
		base[key] = node
	}
}

// digest returns a digest of 12 bits. Messages therefore miss one of 4096 changes on average, but a value
// cannot be guessed from its digest.
func digest(value any) string {
	text, _ := json.Marshal(value) // JSON types always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(combinedDigest[:2])[:2]
}

// sum returns one digest for a tree of digests, or "" for an empty one. It is the same if a part of the tree is
// already replaced by its sum.
func combinedDigest(node any) string {
	branch, isMap := node.(map[string]any)
	if !isMap {
		text, _ := node.(string)
		return text
	}
	sums := make(map[string]string, len(branch))
	for key, child := range branch {
		sums[key] = combinedDigest(child)
	}
	return digest(sums)
}

// countLevels returns the depth of nested maps in digests, 0 for a digest.
func countLevels(node any) int {
	levels := 0
	branch, isMap := node.(map[string]any)
	if !isMap {
		return 0
	}
	for _, child := range branch {
		levels = max(levels, countLevels(child))
	}
	return 1 + levels
}

// cutDigests returns a tree of digests with at most levels levels of keys. Deeper trees are replaced by one digest.
func cutDigests(node any, levels int) any {
	branch, isMap := node.(map[string]any)
	if !isMap || levels == 0 {
		return combinedDigest(node)
	}
	cut := make(map[string]any, len(branch))
	for key, child := range branch {
		cut[key] = cutDigests(child, levels-1)
	}
	return cut
}

// changedKeys returns the sorted paths of the keys with different digests. If one side has only one digest for
// some keys, the path of that digest is returned instead of the keys.
func changedKeys(oldValue, newValue any, path []string) [][]string {
	oldMap, wasMap := oldValue.(map[string]any)
	newMap, isMap := newValue.(map[string]any)
	switch {
	case combinedDigest(oldValue) == combinedDigest(newValue):
		return nil
	case !wasMap && oldValue != nil, !isMap && newValue != nil:
		return [][]string{path}
	}
	keys := slices.Collect(maps.Keys(oldMap))
	for key := range newMap {
		if _, exists := oldMap[key]; !exists {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var paths [][]string
	for _, key := range keys {
		paths = append(paths, changedKeys(oldMap[key], newMap[key], append(slices.Clip(path), key))...)
	}
	return paths
}
