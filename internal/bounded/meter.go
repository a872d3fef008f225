// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

// Size is the size of a text with its aliases written out.
type Size struct{ Bytes, Nodes, Depth, Paths int }

// meter adds up the values of a text in their order, and returns an error when a sum exceeds its limit.
type meter struct {
	limits *Limits
	size   Size
	// keys are the lengths of the keys on the path to the current value, 0 for an item of a list. path is their sum.
	keys []int
	path int
}

func newMeter(limits *Limits, text []byte) meter {
	return meter{limits: limits, size: Size{Bytes: len(text)}}
}

// countNode counts a key or a value at the current path.
func (m *meter) countNode() *Error {
	m.size.Nodes++
	m.size.Paths += m.path + stepBytes*len(m.keys)
	return m.limits.findExcess(&m.size)
}

// openLevel starts a map or a list.
func (m *meter) openLevel() *Error {
	m.keys = append(m.keys, 0)
	m.size.Depth = max(m.size.Depth, len(m.keys))
	return m.limits.findExcess(&m.size)
}

// countKey counts a key of the innermost map.
func (m *meter) countKey(bytes int) *Error {
	last := len(m.keys) - 1
	m.path += bytes - m.keys[last]
	m.keys[last] = bytes
	if err := m.limits.checkKeyLength(bytes, m.path); err != nil {
		return err
	}
	return m.countNode()
}

// closeDeeperThan ends the maps and lists that are nested deeper than a depth.
func (m *meter) closeDeeperThan(depth int) {
	for last := len(m.keys) - 1; last >= depth; last-- {
		m.path -= m.keys[last]
		m.keys = m.keys[:last]
	}
}
