// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strconv"
	"strings"
)

// form is the type of a value.
type form int

const (
	null form = iota
	text
	number
	boolean
	list
	table
	// open is the value of an unknown variable, which may have any of the other forms.
	open
	// wide is a number that does not fit into 64 bits.
	wide
)

// formNoun returns the name of the form for messages.
func (f form) formNoun() string {
	return [...]string{"nothing", "a string", "a number", "a boolean", "a list", "a map", "a variable", "a number of more than 64 bits"}[f]
}

// position is a position in a file, by the file's index. Lines and columns start at 1. 0 means unknown.
type position struct{ file, line, column int }

// value is a node in the tree of a configuration file in any format.
type value struct {
	form    form
	scalar  string // as it is written, without quotes
	items   []*value
	entries []entry
	// index contains the indexes of the entries by key. It is set only for tables with many entries.
	index map[string]int
	pos   position
}

// entry is one key of a table with its value.
type entry struct {
	key   string
	pos   position
	value *value
	// isNoText reports whether the key is written as a number, a boolean or null, and not as text.
	isNoText bool
}

// nothing is the value that get returns for a missing key.
var nothing = &value{}

// indexedFrom is the number of entries at which a table gets an index.
const indexedFrom = 32

// addEntry appends an entry to a table.
func (v *value) addEntry(e entry) {
	v.entries = append(v.entries, e)
	if len(v.entries) < indexedFrom {
		return
	}
	if v.index == nil {
		v.index = make(map[string]int, 2*indexedFrom)
		for i := range v.entries {
			v.index[v.entries[i].key] = i
		}
	}
	v.index[e.key] = len(v.entries) - 1
}

// entry returns the entry of a table with a key, or nil for none.
func (v *value) entry(key string) *entry {
	if v.index != nil {
		if i, ok := v.index[key]; ok {
			return &v.entries[i]
		}
		return nil
	}
	for i := range v.entries {
		if v.entries[i].key == key {
			return &v.entries[i]
		}
	}
	return nil
}

// get returns the value at a path of keys, or nothing if a key is missing. It never returns nil.
func (v *value) get(path ...string) *value {
	for _, key := range path {
		child := v.entry(key)
		if child == nil {
			return nothing
		}
		v = child.value
	}
	return v
}

// hasKey reports whether a table has a key with a value other than null.
func (v *value) hasKey(key string) bool { return v.get(key).form != null }

// isTrue reports whether the value is the boolean true.
func (v *value) isTrue() bool { return v.form == boolean && v.scalar == "true" }

// isFalse reports whether the value is the boolean false. A missing value is not false.
func (v *value) isFalse() bool { return v.form == boolean && v.scalar == "false" }

// withoutDot converts .inf and .nan from YAML to the notation of Go.
var withoutDot = strings.NewReplacer(".i", "i", ".I", "I", ".n", "n", ".N", "N")

// float returns the value as a float. It returns false if the value is not a number.
func (v *value) float() (float64, bool) {
	if v.form != number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.scalar, 0, 64); err == nil {
		return float64(n), true
	}
	n, err := strconv.ParseFloat(withoutDot.Replace(v.scalar), 64)
	return n, err == nil
}

// visit calls a function for every text below the value, with the path of the text. It skips keys.
func (v *value) visit(path string, visit func(path string, v *value)) {
	switch v.form {
	case text, open:
		visit(path, v)
	case list:
		for i, item := range v.items {
			item.visit(path+"["+strconv.Itoa(i)+"]", visit)
		}
	case table:
		for i := range v.entries {
			v.entries[i].value.visit(joinPath(path, v.entries[i].key), visit)
		}
	default:
	}
}

// fitsTOML reports whether TOML can represent everything below a table or a list. TOML does not support null,
// integers of more than 64 bits, and keys that are not texts. Vector converts each file to TOML first.
func (v *value) fitsTOML() bool {
	return !slices.ContainsFunc(v.items, func(item *value) bool { return item.form == null || item.form == wide || !item.fitsTOML() }) &&
		!slices.ContainsFunc(v.entries, func(e entry) bool {
			return e.isNoText || e.value.form == null || e.value.form == wide || !e.value.fitsTOML()
		})
}

// joinPath returns a path with a key appended.
func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
