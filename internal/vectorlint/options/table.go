// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	_ "embed" // for data/options.txt
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

//go:embed data/options.txt
var text string

// Oldest and Newest are the first and the last minor version of Vector 0.x in the table. Schema is the minor
// version from which the table has the schema of the Vector binary. The schema contains the options outside of
// components, the variants, and the syntax of strings.
const (
	Oldest = 45
	Newest = 57
	Schema = 57
)

// tables contains the lines of the text and caches the decoded objects.
type tables struct {
	options, objects []string
	// releases contains the number of the object for each component, or - if a release does not have the
	// component. The newest release is first. Older releases list only their differences from the next newer
	// release.
	releases string
	decoded  []atomicObject
}

type atomicObject = atomic.Pointer[Object]

var table = sync.OnceValue(func() *tables { return splitTables(text) })

// splitTables splits the text into lines without copying them.
func splitTables(text string) *tables {
	_, remaining, _ := strings.Cut(text, "[options]\n")
	options, remaining, _ := strings.Cut(remaining, "\n[objects]\n")
	objects, releases, _ := strings.Cut(remaining, "\n[releases]\n")
	t := &tables{options: strings.Split(options, "\n"), objects: strings.Split(objects, "\n"), releases: releases}
	t.decoded = make([]atomicObject, len(t.objects))
	return t
}

// Component returns the options of a component in a release, by its minor version. The kind is sources,
// transforms or sinks. For a release that is not in the table, it uses the nearest release. It returns nil for
// a component that the release does not have.
func Component(minor int, kind, name string) *Object {
	return table().component(min(max(minor, Oldest), Newest), kind, name)
}

// Names returns the sorted names of a release's components. The kind is sources, transforms or sinks.
func Names(minor int, kind string) []string {
	present := map[string]bool{}
	for line := range strings.SplitSeq(table().releases, "\n") {
		if entry, ok := strings.CutPrefix(line, kind+" "); ok {
			name, _, _ := strings.Cut(entry, " ")
			present[name] = present[name] || Component(minor, kind, name) != nil
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(present)), func(name string) bool { return !present[name] })
}

// Globals returns the options outside of components in the release of the schema.
func Globals() *Object { return table().component(Schema, "globals", "vector") }

// component returns the options of a component, or nil if the release does not have the component. The table lists
// the newest release first. The last line for the component counts that is not below an older release than the minor
// version.
func (t *tables) component(minor int, kind, name string) *Object {
	number := ""
	for line := range strings.SplitSeq(t.releases, "\n") {
		if releaseText, ok := strings.CutPrefix(line, "release "); ok {
			if releaseMinor, _ := strconv.Atoi(releaseText); releaseMinor < minor {
				break
			}
			continue
		}
		remaining, ok := strings.CutPrefix(line, kind)
		if !ok || !strings.HasPrefix(remaining, " ") {
			continue
		}
		if remaining, ok = strings.CutPrefix(remaining[1:], name); ok && strings.HasPrefix(remaining, " ") {
			number = remaining[1:]
		}
	}
	if number == "" || number == "-" {
		return nil
	}
	return t.object(number)
}

// object returns the object with a number, or nil for an unknown number. It decodes the object at the first call and
// caches it.
func (t *tables) object(number string) *Object {
	n, err := strconv.ParseInt(number, 36, 32)
	if err != nil || n >= int64(len(t.objects)) {
		return nil
	}
	if cached := t.decoded[n].Load(); cached != nil {
		return cached
	}
	line := t.objects[n]
	line, denies := strings.CutPrefix(line, "!")
	fresh := &Object{Denies: denies, Options: make([]Option, 0, strings.Count(line, " ")+1)}
	forms := 0
	line, variants, hasVariants := strings.Cut(strings.TrimSpace(line), "|")
	if hasVariants {
		fresh.variants = strings.Split(variants, " |")
	}
	for number := range strings.SplitSeq(strings.TrimSpace(line), " ") {
		forms += strings.Count(t.option(number), "\t") - tabsBeforeForms + 1
	}
	room := make([]Form, 0, max(forms, 0))
	for number := range strings.SplitSeq(strings.TrimSpace(line), " ") {
		if line := t.option(number); line != "" {
			var decoded Option
			decoded, room = decodeOption(line, room)
			fresh.Options = append(fresh.Options, decoded)
		}
	}
	t.decoded[n].CompareAndSwap(nil, fresh)
	return t.decoded[n].Load()
}

// option returns the line of the option with a number, or "" for an unknown number.
func (t *tables) option(number string) string {
	n, err := strconv.ParseInt(number, 36, 32)
	if err != nil || n >= int64(len(t.options)) {
		return ""
	}
	return t.options[n]
}

// forms returns the forms of an array's items. The table stores them as an option without a name.
func (t *tables) forms(number string) []Form {
	decoded, _ := decodeOption(t.option(number), nil)
	return decoded.Forms
}

// tabsBeforeForms is the number of tabs in the line of an option before its first form.
const tabsBeforeForms = 4

// decodeOption parses the line of an option, which contains the columns NAME, MARKS, WHEN, ALIAS and FORMS. It
// appends the option's forms to a list, so that options share one list, and also returns the longer list.
func decodeOption(line string, room []Form) (Option, []Form) {
	var o Option
	var marks string
	o.Name, line, _ = strings.Cut(line, "\t")
	marks, line, _ = strings.Cut(line, "\t")
	o.Condition, line, _ = strings.Cut(line, "\t")
	o.AliasOf, line, _ = strings.Cut(line, "\t")
	o.Required, o.Deprecated, o.Lenient = strings.Contains(marks, "!"), strings.Contains(marks, "~"), strings.Contains(marks, "?")
	start := len(room)
	for line != "" {
		var form string
		form, line, _ = strings.Cut(line, "\t")
		room = append(room, parseForm(form))
	}
	o.Forms = room[start:len(room):len(room)]
	return o, room
}

// parseForm parses a form: a kind and its attributes, each with a sign before it. The default is the last
// attribute, because it may contain spaces.
func parseForm(text string) Form {
	var f Form
	f.Kind, text, _ = strings.Cut(text, " ")
	for text != "" {
		if text[0] == '=' {
			f.Default = text[1:]
			break
		}
		var attribute string
		attribute, text, _ = strings.Cut(text, " ")
		switch attribute[0] {
		case '@':
			f.object = attribute[1:]
		case '#':
			f.items = attribute[1:]
		case '|':
			f.values = attribute[1:]
		case '%':
			f.Syntax = attribute[1:]
		case '/':
			f.Unit = attribute[1:]
		}
	}
	return f
}
