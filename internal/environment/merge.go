// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import "strconv"

// MergeLayers merges several values files of one helm command into one layer. Later files take precedence: maps are
// merged, and any other value is replaced. A null stays, because it deletes a value of the chart. Positions name the file
// of each value.
func MergeLayers(first Layer, others ...Layer) Layer {
	merged := first
	for i := range others {
		upper := &others[i]
		merged = Layer{
			Name:  merged.Name + ", " + upper.Name,
			Tree:  mergeTrees(merged.Tree, upper.Tree),
			lines: mergePlaces(merged.places(), upper.places(), merged.Tree, upper.Tree),
		}
	}
	return merged
}

// mergeTrees returns a tree with another tree merged over it. It does not modify the arguments.
func mergeTrees(lower, upper map[string]any) map[string]any {
	merged := make(map[string]any, len(lower)+len(upper))
	for key, value := range lower {
		merged[key] = value
	}
	for key, value := range upper {
		below, isMap := merged[key].(map[string]any)
		above, replaces := value.(map[string]any)
		if isMap && replaces {
			merged[key] = mergeTrees(below, above)
			continue
		}
		merged[key] = value
	}
	return merged
}

// mergePlaces returns the positions for the result of mergeTrees.
func mergePlaces(lower, upper *place, lowerTree, upperTree map[string]any) *place {
	merged := &place{source: upper.source, line: upper.line, below: map[string]*place{}}
	for key := range lowerTree {
		merged.below[key] = lower.below[key]
	}
	for key, value := range upperTree {
		below, isMap := lowerTree[key].(map[string]any)
		above, replaces := value.(map[string]any)
		merged.below[key] = upper.below[key]
		if isMap && replaces {
			merged.below[key] = mergePlaces(lower.below[key], upper.below[key], below, above)
		}
	}
	return merged
}

// places returns the positions of the whole layer, each with its source. A layer that was not read from a file has no lines.
func (l *Layer) places() *place { return placeOf(l.Tree, l.lines, place{source: l.Name}) }

// placeOf returns the positions of a value and of the values below it. YAML aliases have no
// position: they get the position of the key above them.
func placeOf(value any, at *place, above place) *place {
	if at != nil && at.line > 0 {
		above.line = at.line
	}
	if at != nil && at.source != "" {
		above.source, above.line = at.source, at.line
	}
	result := &place{source: above.source, line: above.line, below: map[string]*place{}}
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			result.below[key] = placeOf(item, at.find(key), above)
		}
	case []any:
		for i, item := range v {
			key := strconv.Itoa(i)
			result.below[key] = placeOf(item, at.find(key), above)
		}
	}
	return result
}
