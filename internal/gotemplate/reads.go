// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"reflect"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// maxTracked is the maximum number of tracked containers, and maxAccesses the maximum number of recorded
// accesses. If a bound is exceeded, the parts of a value are not distinguished, and a read counts as a read of
// the whole value.
const (
	maxTracked  = 8
	maxAccesses = 64
	// maxWatched is the maximum number of values with recorded reads. Each of them is also one entry of watch.tracked.
	maxWatched = 2
)

// watch records which parts of some values are read, at the time of the read. Templates use maps and lists in
// the values by reference, so watch identifies them by their memory address. They belong to copies that only
// this execution uses. While watch refers to them, no other value can get their address.
//
// Code that reads the content of a map or list must report the read to watch. The shape of a container is
// recorded when the container is read from its map. A container is recorded as a whole before a template can
// change it. The zero value does not record anything.
type watch struct {
	tracked  [maxTracked + maxWatched - 1]trackedValue
	count    int
	accesses []access
	// isAll reports whether all watched values are recorded as read as a whole.
	isAll bool
}

// trackedValue is a map or list in a watched value, or the watched value itself.
type trackedValue struct {
	// address is the memory address of the map or list.
	address uintptr
	value   any
	// isWhole reports whether this container, or one that contains it, is recorded as read as a whole.
	isWhole bool
	// parent and key are the container that contains this one, and its key there. The parent of a watched value is the
	// value itself. root is the index of the watched value that contains this container.
	parent int
	key    string
	root   int
}

// access is a recorded read of a tracked container, or of one of its keys.
type access struct {
	container int
	key       string
	isKey     bool
	aspect    tree.Aspect
}

// start starts to watch the values at some paths. The values should be maps that are not empty. If a value is
// not, all values are recorded as a whole.
func (w *watch) start(root map[string]any, paths [][]string) {
	for n, path := range paths {
		var value any = root
		for _, key := range path {
			items, _ := value.(map[string]any)
			value = items[key]
		}
		items, isMap := value.(map[string]any)
		if w.isAll = w.isAll || !isMap || len(items) == 0; !w.isAll {
			w.track(items, trackedValue{parent: w.count, root: n})
		}
	}
}

// track registers a map or list, and the containers in a map. Containers in a list count as a part of the list.
func (w *watch) track(value any, entry trackedValue) {
	if w.count == maxTracked+entry.root {
		return
	}
	pos := w.count
	entry.address, entry.value = containerAddress(value), value
	w.tracked[pos] = entry
	w.count++
	items, _ := value.(map[string]any)
	for key, item := range items {
		switch list := item.(type) {
		case map[string]any:
			w.track(item, trackedValue{parent: pos, key: key, root: entry.root})
		case []any:
			if len(list) == 0 {
				// All lists without capacity have the same address.
				item = make([]any, 0, 1)
				items[key] = item
			}
			w.track(item, trackedValue{parent: pos, key: key, root: entry.root})
		}
	}
}

// containerAddress returns the memory address of a map or list, or 0 for other values.
func containerAddress(value any) uintptr {
	switch value.(type) {
	case map[string]any, []any:
		return reflect.ValueOf(value).Pointer()
	}
	return 0
}

// findAddress returns the index of the tracked container with an address, or -1 for none.
func (w *watch) findAddress(address uintptr) int {
	if address == 0 {
		return -1
	}
	for i := range w.tracked[:w.count] {
		if w.tracked[i].address == address {
			return i
		}
	}
	return -1
}

// recordKey records the lookup of a key in a map.
func (w *watch) recordKey(container any, key string) {
	if w.count == 0 {
		return
	}
	holder := w.findAddress(containerAddress(container))
	if holder < 0 || w.tracked[holder].isWhole {
		return
	}
	items, _ := w.tracked[holder].value.(map[string]any)
	newAccess := access{container: holder, key: key, isKey: true, aspect: tree.Shape}
	if item := items[key]; isContainer(item) && w.findAddress(containerAddress(item)) < 0 {
		newAccess.aspect = tree.WholeValue
	}
	if len(w.accesses) >= maxAccesses && !slices.Contains(w.accesses, newAccess) {
		w.recordWholeAt(w.tracked[holder].address)
		return
	}
	w.recordAccess(newAccess)
}

// isContainer reports whether a value has content in addition to its shape.
func isContainer(value any) bool {
	switch value.(type) {
	case nil, string, bool, int, int64, float64:
		return false
	}
	kind := reflect.ValueOf(value).Kind()
	return kind > reflect.Complex128 && kind != reflect.String
}

// recordLength records that the number of items in a container was read.
func (w *watch) recordLength(container any) {
	if w.count == 0 {
		return
	}
	if holder := w.findAddress(containerAddress(container)); holder >= 0 && !w.tracked[holder].isWhole {
		w.recordAccess(access{container: holder, aspect: tree.Length})
	}
}

// recordWhole records that each of some maps and lists is read as a whole. It ignores containers that are not
// in a watched value.
func (w *watch) recordWhole(values ...any) {
	if w.count == 0 {
		return
	}
	for _, value := range values {
		w.recordWholeAt(containerAddress(value))
	}
}

// recordWholeAt records that the map or list at an address is read as a whole.
func (w *watch) recordWholeAt(address uintptr) {
	pos := w.findAddress(address)
	if pos < 0 || w.tracked[pos].isWhole {
		return
	}
	w.recordAccess(access{container: pos, aspect: tree.WholeValue})
	w.tracked[pos].isWhole = true
	for i := pos + 1; i < w.count; i++ { // A container comes after the container that it is in.
		w.tracked[i].isWhole = w.tracked[i].isWhole || w.tracked[w.tracked[i].parent].isWhole
	}
}

// recordAccess records an access, unless it is recorded already.
func (w *watch) recordAccess(entry access) {
	if !slices.Contains(w.accesses, entry) {
		w.accesses = append(w.accesses, entry)
	}
}

// recordedReads returns the recorded reads of the first watched values. If the execution has exceeded a bound, all
// values count as read as a whole, because the result depends on the size of all data.
func (w *watch) recordedReads(count int, budget string) Reads {
	reads := make(Reads, count)
	if w.isAll || w.count > 0 && budget != "" {
		for n := range reads {
			reads[n] = []tree.Read{{Aspect: tree.WholeValue}}
		}
		return reads
	}
	for _, entry := range w.accesses {
		path := w.valuePath(entry.container)
		if entry.isKey {
			path = append(path, entry.key)
		}
		root := w.tracked[entry.container].root
		reads[root] = append(reads[root], tree.Read{Path: path, Aspect: entry.aspect})
	}
	for n := range reads {
		reads[n] = tree.JoinReads(reads[n])
	}
	return reads
}

// valuePath returns the path of a tracked container in its watched value.
func (w *watch) valuePath(pos int) []string {
	if w.tracked[pos].parent == pos {
		return nil
	}
	return append(w.valuePath(w.tracked[pos].parent), w.tracked[pos].key)
}
