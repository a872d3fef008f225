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

// deepest is the number of levels of keys with separate digests.
const deepest = 6

// Digests returns a digest for each key of merged JSON trees, in the shape of the trees. Later trees override
// earlier trees. Workloads keep digests from one release to the next. If the digest of a value changed, all
// keys would once be reported as changed.
func Digests(trees ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, one := range trees {
		lay(all, tree.Map(digests(one, deepest)))
	}
	return all
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

func digests(of map[string]any, depth int) any {
	if len(of) == 0 || depth == 0 {
		return digest(of)
	}
	found := make(map[string]any, len(of))
	for key, value := range of {
		if branch, isMap := value.(map[string]any); isMap {
			found[key] = digests(branch, depth-1)
			continue
		}
		found[key] = digest(value)
	}
	return found
}

// lay merges digests into other digests and overrides them.
func lay(below, above map[string]any) {
	for key, node := range above {
		under, over := tree.Map(below[key]), tree.Map(node)
		if under != nil && over != nil {
			lay(under, over)
			continue
		}
		below[key] = node
	}
}

// digest returns a digest of 12 bits. Messages therefore do not name one of 4096 changes, and a value cannot be
// guessed from its digest.
func digest(value any) string {
	text, _ := json.Marshal(value) // JSON types always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:2])[:2]
}

// sum merges digests into one digest, or "" for none. The result does not depend on earlier merges.
func sum(node any) string {
	branch, isMap := node.(map[string]any)
	if !isMap {
		text, _ := node.(string)
		return text
	}
	sums := make(map[string]string, len(branch))
	for key, below := range branch {
		sums[key] = sum(below)
	}
	return digest(sums)
}

// depthOf returns the number of levels of keys.
func depthOf(node any) int {
	deepest := 0
	branch, isMap := node.(map[string]any)
	if !isMap {
		return 0
	}
	for _, below := range branch {
		deepest = max(deepest, depthOf(below))
	}
	return 1 + deepest
}

// cutDigests returns digests cut to a number of levels.
func cutDigests(node any, levels int) any {
	branch, isMap := node.(map[string]any)
	if !isMap || levels == 0 {
		return sum(node)
	}
	kept := make(map[string]any, len(branch))
	for key, below := range branch {
		kept[key] = cutDigests(below, levels-1)
	}
	return kept
}

// changedKeys returns the paths at which two digests differ, in order. If one side has merged its keys, the
// keys of the other side are not listed.
func changedKeys(before, now any, path []string) [][]string {
	was, wasMap := before.(map[string]any)
	is, isMap := now.(map[string]any)
	switch {
	case sum(before) == sum(now):
		return nil
	case !wasMap && before != nil, !isMap && now != nil:
		return [][]string{path}
	}
	keys := slices.Collect(maps.Keys(was))
	for key := range is {
		if _, isThere := was[key]; !isThere {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var found [][]string
	for _, key := range keys {
		found = append(found, changedKeys(was[key], is[key], append(slices.Clip(path), key))...)
	}
	return found
}
