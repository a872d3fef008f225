// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

// Size is the size of a text with its aliases expanded, never less than what a parser
// makes of it.
type Size struct{ Bytes, Nodes, Depth, Paths int }

// tally adds up what a scanner finds, and returns an error when it is too much.
type tally struct {
	limits *Limits
	text   []byte
	size   Size
	// pos is the offset up to which the text was scanned.
	pos    int
	levels []level
	// deep is the current depth, path the bytes of the keys and steps on the current
	// path.
	deep, path int
}

// begin returns an empty tally of a text.
func begin(text []byte, limits *Limits) tally {
	return tally{limits: limits, text: text, size: Size{Bytes: len(text)}}
}

// scan scans the text, which is at least one value, token by token.
func (t *tally) scan(token func() error) (Size, error) {
	err := t.limits.fits(t.text)
	if err == nil {
		err = t.add(0, 1)
	}
	for err == nil && t.pos < len(t.text) {
		err = token()
	}
	return t.size, err
}

// level is an open map or list.
type level struct {
	kind kind
	// column is the indentation of a YAML block.
	column int
	// start is the offset of the current entry in brackets, key the length of its key.
	start, key int
	// deepest is the greatest depth below here, entry that in the finished part of the
	// current entry.
	deepest, entry int
	// isFilled reports whether the current entry has anything, isKeyed whether it has a
	// key, and hasInner whether it has one more level in it: a list on the column of
	// its key, a map of one key without brackets, an array of tables.
	isFilled, isKeyed, hasInner bool
}

type kind int8

const (
	blockMap kind = iota
	blockList
	flowMap
	flowList
)

// top returns the innermost level, nil for none.
func (t *tally) top() *level {
	if len(t.levels) == 0 {
		return nil
	}
	return &t.levels[len(t.levels)-1]
}

// open begins a map or a list.
func (t *tally) open(offset int, kind kind, column int) error {
	t.levels = append(t.levels, level{kind: kind, column: column})
	t.path += stepBytes
	return t.deepen(offset)
}

// deepen counts a level.
func (t *tally) deepen(offset int) error {
	t.deep++
	last := t.top()
	last.deepest = max(last.deepest, t.deep)
	t.size.Depth = max(t.size.Depth, t.deep)
	return t.within(offset)
}

// close ends the innermost level.
func (t *tally) close() {
	last := t.top()
	if last == nil {
		return
	}
	t.endInner()
	t.deep--
	t.path -= stepBytes + last.key
	deepest := last.deepest
	t.levels = t.levels[:len(t.levels)-1]
	if last = t.top(); last != nil {
		last.deepest, last.entry = max(last.deepest, deepest), max(last.entry, deepest)
	}
}

// beginInner counts one more level in the innermost one.
func (t *tally) beginInner(offset int) error {
	last := t.top()
	if last.hasInner {
		return nil
	}
	last.hasInner = true
	return t.deepen(offset)
}

func (t *tally) endInner() {
	if last := t.top(); last.hasInner {
		last.hasInner = false
		t.deep--
	}
}

// key gives the innermost level another key of that many bytes.
func (t *tally) key(offset, bytes int) error {
	last := t.top()
	if last == nil {
		return nil
	}
	t.path += bytes - last.key
	last.key = bytes
	return t.limits.excessOfKey(bytes, t.path-stepBytes*len(t.levels)).at(t.text, offset)
}

// add counts nodes at the current path.
func (t *tally) add(offset, nodes int) error {
	t.size.Nodes += nodes
	t.size.Paths += t.path
	return t.within(offset)
}

// within returns an error if the sums exceed the limits.
func (t *tally) within(offset int) error {
	return t.limits.excess(&t.size).at(t.text, offset)
}
