// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"reflect"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Beyond these bounds, parts are not distinguished, and a value is read as a whole.
const (
	maxHeld = 8
	maxSeen = 64
	// maxWatched is the maximum number of watched values. Each has room for itself, in addition to the others.
	maxWatched = 2
)

// watch records the reads of some values at the moment of reading. Templates use its maps and lists by reference, so
// these are identified by their memory address. The containers are the execution's own copies. While they are held
// here, no other value can get their address. Code that reads the content of a map or list must report it. The shape
// of a container is recorded when it is read from its map. A container is recorded as a whole before a template can
// change it. The zero value records nothing.
type watch struct {
	held  [maxHeld + maxWatched - 1]held
	count int
	seen  []seen
	// isAll is true if the values are recorded as a whole.
	isAll bool
}

// held is a map or list of a watched value.
type held struct {
	// at is its memory address.
	at    uintptr
	value any
	// isWhole is true if the container, or a container of it, is recorded as a whole.
	isWhole bool
	// parent and key are the path to the container. A watched value is its own parent, and has the number root.
	parent int
	key    string
	root   int
}

// seen is a recorded read of a held container, or of one of its keys.
type seen struct {
	of    int
	key   string
	isKey bool
	what  tree.Aspect
}

// on starts watching the values at some paths. Non-empty maps are the expected case, and record
// nothing.
func (w *watch) on(root map[string]any, paths [][]string) {
	for n, path := range paths {
		var value any = root
		for _, key := range path {
			items, _ := value.(map[string]any)
			value = items[key]
		}
		items, isMap := value.(map[string]any)
		if w.isAll = w.isAll || !isMap || len(items) == 0; !w.isAll {
			w.hold(items, held{parent: w.count, root: n})
		}
	}
}

// hold registers a map or list and the containers in it. Containers in a list count as the list itself.
func (w *watch) hold(value any, as held) {
	if w.count == maxHeld+as.root {
		return
	}
	of := w.count
	as.at, as.value = addressOf(value), value
	w.held[of] = as
	w.count++
	items, _ := value.(map[string]any)
	for key, item := range items {
		switch list := item.(type) {
		case map[string]any:
			w.hold(item, held{parent: of, key: key, root: as.root})
		case []any:
			if len(list) == 0 {
				// All lists without capacity have the same address.
				item = make([]any, 0, 1)
				items[key] = item
			}
			w.hold(item, held{parent: of, key: key, root: as.root})
		}
	}
}

// addressOf returns the address of a map or list, 0 for anything else.
func addressOf(value any) uintptr {
	switch value.(type) {
	case map[string]any, []any:
		return reflect.ValueOf(value).Pointer()
	}
	return 0
}

// find returns the index of the container at an address, -1 if it is not held.
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

// key records the lookup of a key of a map.
func (w *watch) key(of any, key string) {
	if w.count == 0 {
		return
	}
	holder := w.find(addressOf(of))
	if holder < 0 || w.held[holder].isWhole {
		return
	}
	items, _ := w.held[holder].value.(map[string]any)
	one := seen{of: holder, key: key, isKey: true, what: tree.Shape}
	if item := items[key]; isContainer(item) && w.find(addressOf(item)) < 0 {
		one.what = tree.WholeValue
	}
	if len(w.seen) >= maxSeen && !slices.Contains(w.seen, one) {
		w.wholeAt(w.held[holder].at)
		return
	}
	w.note(one)
}

// isContainer reports whether a value has more content than its shape.
func isContainer(value any) bool {
	switch value.(type) {
	case nil, string, bool, int, int64, float64:
		return false
	}
	kind := reflect.ValueOf(value).Kind()
	return kind > reflect.Complex128 && kind != reflect.String
}

// length records that the number of items was read.
func (w *watch) length(of any) {
	if w.count == 0 {
		return
	}
	if holder := w.find(addressOf(of)); holder >= 0 && !w.held[holder].isWhole {
		w.note(seen{of: holder, what: tree.Length})
	}
}

// whole records that each map or list among the values is read as a whole, without containers in it that are not part
// of the watched value.
func (w *watch) whole(values ...any) {
	if w.count == 0 {
		return
	}
	for _, value := range values {
		w.wholeAt(addressOf(value))
	}
}

// wholeAt is whole for the container at an address.
func (w *watch) wholeAt(at uintptr) {
	of := w.find(at)
	if of < 0 || w.held[of].isWhole {
		return
	}
	w.note(seen{of: of, what: tree.WholeValue})
	w.held[of].isWhole = true
	for i := of + 1; i < w.count; i++ { // A container comes after the container that it is in.
		w.held[i].isWhole = w.held[i].isWhole || w.held[w.held[i].parent].isWhole
	}
}

func (w *watch) note(one seen) {
	if !slices.Contains(w.seen, one) {
		w.seen = append(w.seen, one)
	}
}

// reads returns the recorded reads of the first watched values. If the execution exceeded a budget, all values count
// as read, because that depends on the size of everything.
func (w *watch) reads(count int, budget string) Reads {
	all := make(Reads, count)
	if w.isAll || w.count > 0 && budget != "" {
		for n := range all {
			all[n] = []tree.Read{{Aspect: tree.WholeValue}}
		}
		return all
	}
	for _, one := range w.seen {
		path := w.path(one.of)
		if one.isKey {
			path = append(path, one.key)
		}
		root := w.held[one.of].root
		all[root] = append(all[root], tree.Read{Path: path, Aspect: one.what})
	}
	for n := range all {
		all[n] = tree.JoinReads(all[n])
	}
	return all
}

// path returns the path of a held container.
func (w *watch) path(of int) []string {
	if w.held[of].parent == of {
		return nil
	}
	return append(w.path(w.held[of].parent), w.held[of].key)
}
