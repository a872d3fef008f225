// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "go.yaml.in/yaml/v3"

// written measures a document with all aliases expanded; size is its size without that.
func (l *Limits) written(text []byte, size Size, document *yaml.Node) (Size, error) {
	w := writer{limits: l, known: map[*yaml.Node]*expanse{}}
	whole, err := w.measure(document)
	if err != nil {
		return size, err
	}
	size.Bytes = max(size.Bytes, len(text)+whole.bytes-w.bytes)
	size.Nodes, size.Paths, size.Depth = max(size.Nodes, whole.nodes), max(size.Paths, whole.paths), max(size.Depth, whole.depth-1)
	if size.Bytes > l.Bytes {
		return size, refusal(Bytes, "use fewer", "with its aliases written out it has %d bytes, which is more than %s may have (%d)", size.Bytes, l.What, l.Bytes)
	}
	if beyond := l.excess(&size); beyond != nil {
		beyond.Message = "with its aliases written out: " + beyond.Message
		return size, beyond
	}
	return size, nil
}

// expanse is the expanded size of a node with everything in it: paths is the total
// length of the paths of the nodes below it, and keys the bytes of the keys on the
// longest path.
type expanse struct{ bytes, nodes, depth, paths, keys int }

// most is where sums saturate: above all limits, and far from an overflow.
const most = 1 << 40

// writer measures nodes, those with an anchor once.
type writer struct {
	limits *Limits
	// known are the measured nodes; nil for one that is being measured.
	known map[*yaml.Node]*expanse
	// bytes is the size of the texts without expansion.
	bytes int
}

func (w *writer) measure(node *yaml.Node) (expanse, error) {
	if node.Kind == yaml.AliasNode {
		found, isKnown := w.known[node.Alias]
		if isKnown && found == nil {
			beyond := refusal(Aliases, "write it out", "the alias *%.40s stands in what it stands for", node.Value)
			return expanse{}, beyond.atNode(node)
		}
		if found != nil {
			return *found, nil
		}
		return w.measure(node.Alias)
	}
	if node.Anchor != "" {
		w.known[node] = nil
	}
	total := expanse{bytes: len(node.Value), nodes: 1}
	w.bytes += len(node.Value)
	for i, child := range node.Content {
		below, err := w.measure(child)
		if err != nil {
			return total, err
		}
		key := 0
		if node.Kind == yaml.MappingNode {
			key = len(resolved(node.Content[i&^1]).Value)
		}
		total.take(&below, key)
		if beyond := w.limits.excessOfKey(key, total.keys); beyond != nil {
			return total, beyond.atNode(child)
		}
	}
	if node.Anchor != "" {
		w.known[node] = &total
	}
	return total, nil
}

// atNode sets the position of an Error to that of a node.
func (e *Error) atNode(node *yaml.Node) *Error {
	e.Line, e.Column = node.Line, node.Column
	return e
}

func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// take adds what is below a key or an item.
func (e *expanse) take(below *expanse, key int) {
	e.bytes = min(e.bytes+below.bytes, most)
	e.nodes = min(e.nodes+below.nodes, most)
	e.paths = min(e.paths+below.paths+(stepBytes+key)*below.nodes, most)
	e.depth, e.keys = max(e.depth, below.depth+1), max(e.keys, below.keys+key)
}
