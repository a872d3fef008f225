// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"cmp"
	"reflect"
	"slices"
)

// Read is something that an execution has seen of the watched value (Options.Watch).
// Executions do the same until they see something else: so one for which every Read of
// another gives the same has the same result.
type Read struct {
	// Path are the keys that lead there from the watched value; none for itself.
	Path []string
	// Seen says what of it.
	Seen Aspect
}

// Aspect is a part of a value that an execution can see without the rest.
type Aspect byte

const (
	// Shape is whether the value is there; if it is no map or list, the value; else which
	// of the two it is, and whether it is empty.
	Shape Aspect = iota
	// Length is the number of items of a map or list.
	Length
	// Whole is all of it. What is read of a list but its length is all of it.
	Whole
)

// JoinReads are the reads of several executions as those of one: sorted, each once, and
// without what is part of another.
func JoinReads(lists ...[]Read) []Read {
	all := slices.Concat(lists...)
	joined := slices.DeleteFunc(slices.Clone(all), func(one Read) bool {
		return slices.ContainsFunc(all, func(other Read) bool { return other.covers(one) })
	})
	slices.SortFunc(joined, Read.compare)
	return slices.CompactFunc(joined, func(a, b Read) bool { return a.compare(b) == 0 })
}

// covers reports whether another read is part of this one.
func (r Read) covers(other Read) bool {
	isAbove := len(r.Path) <= len(other.Path) && slices.Equal(r.Path, other.Path[:len(r.Path)])
	return r.Seen == Whole && isAbove && r.compare(other) != 0
}

// Equal reports whether two reads are the same.
func (r Read) Equal(other Read) bool { return r.compare(other) == 0 }

func (r Read) compare(other Read) int {
	return cmp.Or(slices.Compare(r.Path, other.Path), cmp.Compare(r.Seen, other.Seen))
}

// Bounds on what is told apart: past them, a value is read as a whole.
const (
	maxHeld = 8
	maxSeen = 64
)

// watch notes what an execution sees of one value, where it sees it. Templates hold its
// maps and lists by reference, wherever they put them; so these are known by where they lie
// in memory. They are the execution's own copies, and no other value comes to lie there
// as long as they are held here. Whoever looks into a map or list has to tell; who looks at
// nothing but its shape need not, for that is noted when it is taken out of its map. Before
// a template can change one, it has been noted as a whole. The zero value notes nothing.
type watch struct {
	held  [maxHeld]held
	count int
	seen  []seen
	// isAll: the value is noted as a whole.
	isAll bool
}

// held is a map or list of the watched value.
type held struct {
	// at is where it lies.
	at    uintptr
	value any
	// isWhole: it is noted as a whole, or what it lies in.
	isWhole bool
	// parent and key lead to it; the first one is the watched value.
	parent int
	key    string
}

// seen is what was seen of something held, or of a key of it.
type seen struct {
	of    int
	key   string
	isKey bool
	what  Aspect
}

// on begins to watch the value at a path. Nothing is noted of one that is a map with
// anything in it: that is what to expect.
func (w *watch) on(root map[string]any, path []string) {
	if len(path) == 0 {
		return
	}
	var value any = root
	for _, key := range path {
		tree, _ := value.(map[string]any)
		value = tree[key]
	}
	tree, isMap := value.(map[string]any)
	if w.isAll = !isMap || len(tree) == 0; !w.isAll {
		w.hold(tree, held{})
	}
}

// hold holds a map or list, and those in it; of a list, all is one.
func (w *watch) hold(value any, as held) {
	if w.count == maxHeld {
		return
	}
	of := w.count
	as.at, as.value = addressOf(value), value
	w.held[of] = as
	w.count++
	tree, _ := value.(map[string]any)
	for key, item := range tree {
		switch list := item.(type) {
		case map[string]any:
			w.hold(item, held{parent: of, key: key})
		case []any:
			if len(list) == 0 {
				// Lists without a capacity all lie at one place.
				item = make([]any, 0, 1)
				tree[key] = item
			}
			w.hold(item, held{parent: of, key: key})
		}
	}
}

// addressOf is where a map or list lies, 0 for all else.
func addressOf(value any) uintptr {
	switch value.(type) {
	case map[string]any, []any:
		return reflect.ValueOf(value).Pointer()
	}
	return 0
}

// find returns the index of what lies somewhere, -1 for nothing that is held.
func (w *watch) find(at uintptr) int {
	if at == 0 {
		return -1
	}
	for i := range w.held[:w.count] {
		if w.held[i].at == at {
			return i
		}
	}
	return -1
}

// key notes that a key of a map is looked up.
func (w *watch) key(of any, key string) {
	if w.count == 0 {
		return
	}
	holder := w.find(addressOf(of))
	if holder < 0 || w.held[holder].isWhole {
		return
	}
	tree, _ := w.held[holder].value.(map[string]any)
	one := seen{of: holder, key: key, isKey: true, what: Shape}
	if item := tree[key]; isContainer(item) && w.find(addressOf(item)) < 0 {
		one.what = Whole
	}
	if len(w.seen) >= maxSeen && !slices.Contains(w.seen, one) {
		w.wholeAt(w.held[holder].at)
		return
	}
	w.note(one)
}

// isContainer: there is more to see of a value than its shape.
func isContainer(value any) bool {
	switch value.(type) {
	case nil, string, bool, int, int64, float64:
		return false
	}
	kind := reflect.ValueOf(value).Kind()
	return kind > reflect.Complex128 && kind != reflect.String
}

// length notes that the number of items is looked at.
func (w *watch) length(of any) {
	if w.count == 0 {
		return
	}
	if holder := w.find(addressOf(of)); holder >= 0 && !w.held[holder].isWhole {
		w.note(seen{of: holder, what: Length})
	}
}

// whole notes that each of some values, where it is a map or list, is looked into; not
// what lies in others that are not of the watched value.
func (w *watch) whole(values ...any) {
	if w.count == 0 {
		return
	}
	for _, value := range values {
		w.wholeAt(addressOf(value))
	}
}

// wholeAt is whole of what lies somewhere.
func (w *watch) wholeAt(at uintptr) {
	of := w.find(at)
	if of < 0 || w.held[of].isWhole {
		return
	}
	w.note(seen{of: of, what: Whole})
	w.held[of].isWhole = true
	for i := of + 1; i < w.count; i++ { // What lies in another comes after it.
		w.held[i].isWhole = w.held[i].isWhole || w.held[w.held[i].parent].isWhole
	}
}

func (w *watch) note(one seen) {
	if !slices.Contains(w.seen, one) {
		w.seen = append(w.seen, one)
	}
}

// reads are what has been noted, of an execution that ended so. Whether a bound is hit
// depends on the size of everything.
func (w *watch) reads(budget string) []Read {
	if w.isAll || w.count > 0 && budget != "" {
		return []Read{{Seen: Whole}}
	}
	if len(w.seen) == 0 {
		return nil
	}
	all := make([]Read, 0, len(w.seen))
	for _, one := range w.seen {
		path := w.path(one.of)
		if one.isKey {
			path = append(path, one.key)
		}
		all = append(all, Read{Path: path, Seen: one.what})
	}
	return JoinReads(all)
}

// path leads to something held.
func (w *watch) path(of int) []string {
	if of == 0 {
		return nil
	}
	return append(w.path(w.held[of].parent), w.held[of].key)
}
