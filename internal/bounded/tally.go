// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

// Size is what a text comes to, aliases written out. None of it is less than what a
// parser makes of the text.
type Size struct{ Bytes, Nodes, Depth, Paths int }

// tally adds up what a scanner finds, and refuses what is too much.
type tally struct {
	limits *Limits
	text   []byte
	size   Size
	// pos is the offset that has been read up to, where the text is read by tokens.
	pos    int
	levels []level
	// deep is how deep the levels go, and path the bytes of their keys and steps.
	deep, path int
}

// begin returns a tally of a text of which nothing has been read.
func begin(text []byte, limits *Limits) tally {
	return tally{limits: limits, text: text, size: Size{Bytes: len(text)}}
}

// scan reads the text, which is one value at least, token by token.
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

// level is a map or a list that is open.
type level struct {
	kind kind
	// column that a block of YAML is indented to.
	column int
	// start is the offset of the present entry in brackets, and key how long its key is.
	start, key int
	// deepest is how deep it goes below here, and entry in what is closed of the present
	// entry.
	deepest, entry int
	// isFilled tells that the present entry has anything, and isKeyed that it has a key;
	// hasInner that there is a level more in it: a list on the column of its key, a map of
	// one key without brackets, a list of tables.
	isFilled, isKeyed, hasInner bool
}

type kind int8

const (
	blockMap kind = iota
	blockList
	flowMap
	flowList
)

// top is the innermost level, nil for none.
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

// beginInner counts a level more in the innermost one.
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

// key gives the innermost level another key of so many bytes.
func (t *tally) key(offset, bytes int) error {
	last := t.top()
	if last == nil {
		return nil
	}
	t.path += bytes - last.key
	last.key = bytes
	return t.limits.excessOfKey(bytes, t.path-stepBytes*len(t.levels)).at(t.text, offset)
}

// add counts nodes at the present path.
func (t *tally) add(offset, nodes int) error {
	t.size.Nodes += nodes
	t.size.Paths += t.path
	return t.within(offset)
}

// within refuses sums that are too large.
func (t *tally) within(offset int) error {
	return t.limits.excess(&t.size).at(t.text, offset)
}
