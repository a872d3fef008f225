// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import "strconv"

// MergeLayers merges several values files of one helm command into one layer. Later files take precedence: maps are
// merged, and any other value is replaced. A null stays, because it deletes a value of the chart. Positions name the file
// of each value.
func MergeLayers(first Layer, uppers ...Layer) Layer {
	merged := first
	for i := range uppers {
		upper := &uppers[i]
		merged = Layer{
			Name:  merged.Name + ", " + upper.Name,
			Tree:  mergeTrees(merged.Tree, upper.Tree),
			lines: *mergePositions(merged.positions(), upper.positions(), merged.Tree, upper.Tree),
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
		lowerBranch, isMap := merged[key].(map[string]any)
		upperBranch, replaces := value.(map[string]any)
		if isMap && replaces {
			merged[key] = mergeTrees(lowerBranch, upperBranch)
			continue
		}
		merged[key] = value
	}
	return merged
}

// mergePositions returns the positions for the result of mergeTrees.
func mergePositions(lower, upper *position, lowerTree, upperTree map[string]any) *position {
	merged := &position{source: upper.source, line: upper.line, children: map[string]*position{}}
	for key := range lowerTree {
		merged.children[key] = lower.children[key]
	}
	for key, value := range upperTree {
		lowerBranch, isMap := lowerTree[key].(map[string]any)
		upperBranch, replaces := value.(map[string]any)
		merged.children[key] = upper.children[key]
		if isMap && replaces {
			merged.children[key] = mergePositions(lower.children[key], upper.children[key], lowerBranch, upperBranch)
		}
	}
	return merged
}

// positions returns the positions of the whole layer, each with its source. A layer that was not read from a file has no lines.
func (l *Layer) positions() *position { return newPosition(l.Tree, l.lines, position{source: l.Name}) }

// newPosition returns the positions of a value and of the values below it. YAML aliases have no
// position: they get the position of the key above them.
func newPosition(value any, recorded, inherited position) *position {
	if recorded.line > 0 {
		inherited.line = recorded.line
	}
	if recorded.source != "" {
		inherited.source, inherited.line = recorded.source, recorded.line
	}
	result := &position{source: inherited.source, line: inherited.line, children: map[string]*position{}}
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			result.children[key] = newPosition(item, recorded.find(key), inherited)
		}
	case []any:
		for i, item := range v {
			key := strconv.Itoa(i)
			result.children[key] = newPosition(item, recorded.find(key), inherited)
		}
	}
	return result
}
