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

// maxDigestLevels is the maximum depth of keys with their own digests. Deeper keys share one digest.
const maxDigestLevels = 6

// Digests merges JSON trees and returns a digest for each key. Later trees override earlier trees, and the result has
// the shape of the merged tree. The digests must be the same in all releases, because workloads store them: otherwise,
// an upgrade would report all keys as changed.
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

// digestTree returns a digest for each key of nested maps, down to a depth. An empty map has one digest.
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

// mergeDigests merges the digests of overlay into base. A digest of overlay replaces the digest of base with the same
// key.
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

// digest returns a digest of 12 bits. It is so short that a value cannot be guessed from it. For one of 4096 changes,
// the digest stays the same, and messages do not name the change.
func digest(value any) string {
	text, _ := json.Marshal(value) // JSON types always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:2])[:2]
}

// combinedDigest returns one digest for a tree of digests, or "" for an empty tree. The result is the same if a subtree
// was already replaced by its combined digest.
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

// countLevels returns the number of nested levels in a tree of digests. It is 0 for a single digest.
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

// cutDigests returns a tree of digests with at most the given number of levels. It replaces each deeper subtree by its
// combined digest.
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

// changedKeys returns the sorted paths of the keys with different digests. If one side has a combined digest for
// several keys, it returns the path of that digest.
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
