// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

const byteOrderMark = "\xef\xbb\xbf"

// parseYAMLDocument returns the root node and the size of the first document of a text, which the decoder reads. The
// node is nil if the text is empty.
func (l *Limits) parseYAMLDocument(decoder *yaml.Decoder, text []byte) (*yaml.Node, Size, error) {
	m := yamlMeter{meter: newMeter(l, text), expanding: map[*yaml.Node]bool{}}
	if err := l.checkParsable(text); err != nil {
		return nil, m.size, err
	}
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, m.size, err
	}
	if len(document.Content) == 0 {
		return nil, m.size, nil
	}
	if err := m.measureValue(document.Content[0]); err != nil {
		return nil, m.size, err
	}
	return document.Content[0], m.size, nil
}

// maxParsedNodes is the number of places in a YAML text where a parser may create nodes. A node takes about 200 bytes, so
// parsing takes up to 70 MiB. Half of that is in use at a time.
const maxParsedNodes = 300_000

// checkParsable rejects a YAML text before it is parsed, if it costs too much memory or if the two parsers in use
// read it differently.
func (l *Limits) checkParsable(text []byte) error {
	if err := l.CheckSize(text); err != nil {
		return err
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return newError(Bytes, "write it as UTF-8", "the text is UTF-16")
	}
	if offset := bytes.LastIndex(text, []byte(byteOrderMark)); offset > 0 {
		// Depending on the end of its buffer, libyaml reads such a mark as whitespace, or as the first character of
		// each line.
		return newError(Bytes, "remove it", "the text has a byte order mark (U+FEFF) after its start").withOffset(text, offset)
	}
	nodes := 0
	for i, c := range text {
		switch c {
		case ',', ':', '?', '[', '{':
			nodes += 2 // A key, and an empty value.
		case '#':
			nodes += 3 // Comments are copied several times.
		case '-':
			if i+1 == len(text) || text[i+1] <= ' ' || text[i+1] >= 0x80 {
				nodes++
			}
		}
		if nodes > maxParsedNodes {
			return newError(Nodes, splitHelp, "the text may have more values than the limit of %s (%d; each of , : ? [ and { counts as two)", l.Subject, maxParsedNodes).withOffset(text, i)
		}
	}
	return nil
}

// yamlMeter adds up the values of a YAML document with all aliases written out. It stops at the limits, so it counts
// at most as many values as they allow.
type yamlMeter struct {
	meter

	// expanding are the nodes that are counted for an alias at the moment.
	expanding map[*yaml.Node]bool
}

// measureValue counts a node and all nodes in it.
func (m *yamlMeter) measureValue(node *yaml.Node) error {
	if !m.limits.Aliases && (node.Anchor != "" || node.Kind == yaml.AliasNode) {
		return newError(Aliases, "write the values without anchors, and quote a string that starts with & or *", "anchors and aliases (& and *) are not allowed in %s", m.limits.Subject).withNode(node)
	}
	if node.Kind == yaml.AliasNode {
		return m.measureAlias(node)
	}
	if len(m.expanding) > 0 {
		if m.size.Bytes += len(node.Value); m.size.Bytes > m.limits.Bytes {
			return newError(Bytes, "use fewer", "with aliases replaced, the text exceeds the size limit of %s (%d bytes)", m.limits.Subject, m.limits.Bytes).withNode(node)
		}
	}
	if err := m.countNode(); err != nil {
		return m.withPosition(node, err)
	}
	if node.Kind == yaml.ScalarNode {
		return nil
	}
	if err := m.openLevel(); err != nil {
		return m.withPosition(node, err)
	}
	defer m.closeDeeperThan(len(m.keys) - 1)
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if err := m.measureKey(child); err != nil {
				return err
			}
			continue
		}
		if err := m.measureValue(child); err != nil {
			return err
		}
	}
	return nil
}

// measureKey counts a key, which may be an alias, a map or a list.
func (m *yamlMeter) measureKey(node *yaml.Node) error {
	written := node
	if node.Kind == yaml.AliasNode {
		written = node.Alias
	}
	if err := m.countKey(len(written.Value)); err != nil {
		return m.withPosition(node, err)
	}
	if node.Kind == yaml.ScalarNode && node.Anchor == "" {
		return nil
	}
	return m.measureValue(node)
}

// measureAlias counts the node that an alias refers to.
func (m *yamlMeter) measureAlias(node *yaml.Node) error {
	if m.expanding[node.Alias] {
		return newError(Aliases, "write the value instead of the alias", "the alias *%.40s refers to itself", node.Value).withNode(node)
	}
	m.expanding[node.Alias] = true
	defer delete(m.expanding, node.Alias)
	return m.measureValue(node.Alias)
}

// withPosition sets the position of an Error to a node, and adds to the message whether the node is in an alias.
func (m *yamlMeter) withPosition(node *yaml.Node, err *Error) error {
	if len(m.expanding) > 0 {
		err.Message = "with aliases replaced: " + err.Message
	}
	return err.withNode(node)
}

// withNode sets the position of an Error to the position of a node.
func (e *Error) withNode(node *yaml.Node) *Error {
	e.Line, e.Column = node.Line, node.Column
	return e
}
