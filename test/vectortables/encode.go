// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// encoder writes the form that internal/vectorlint/options reads. What is the same in
// several places and releases is one line, which the others name by its number.
type encoder struct {
	options, objects lines
}

// lines are numbered from 0, and no two are the same.
type lines struct {
	all []string
	at  map[string]int
}

func (l *lines) number(line string) string {
	if l.at == nil {
		l.at = map[string]int{}
	}
	n, ok := l.at[line]
	if !ok {
		n = len(l.all)
		l.at[line] = n
		l.all = append(l.all, line)
	}
	return strconv.FormatInt(int64(n), 36)
}

// encode writes all releases, the newest whole, and of the others what differs from
// the next newer one.
func encode(releases map[int]release) string {
	e := &encoder{}
	var roots strings.Builder
	newer := map[string]string{}
	for _, minor := range slices.Backward(slices.Sorted(maps.Keys(releases))) {
		roots.WriteString("release " + strconv.Itoa(minor) + "\n")
		mine := map[string]string{}
		for kind, components := range releases[minor] {
			for name := range components {
				mine[kind+" "+name] = ""
			}
		}
		for _, name := range slices.Sorted(maps.Keys(mine)) {
			kind, component, _ := strings.Cut(name, " ")
			mine[name] = e.object(releases[minor][kind][component])
		}
		for _, name := range slices.Sorted(maps.Keys(mine)) {
			if mine[name] != newer[name] {
				roots.WriteString(name + " " + mine[name] + "\n")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(newer)) {
			if mine[name] == "" && !strings.HasPrefix(name, "globals ") {
				roots.WriteString(name + " -\n")
			}
		}
		newer = mine
	}
	return head + "[options]\n" + strings.Join(e.options.all, "\n") + "\n[objects]\n" + strings.Join(e.objects.all, "\n") + "\n[releases]\n" + roots.String()
}

// head is the comment of the file.
const head = `# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0
# Written by make vector-tables; README.md says what a line is.
`

// object writes ! if it refuses what it does not know, the numbers of its options, and
// behind | those of its variants.
func (e *encoder) object(of *form) string {
	var parts []string
	if of.denies {
		parts = append(parts, "!")
	}
	for _, name := range slices.Sorted(maps.Keys(of.Options)) {
		parts = append(parts, e.option(name, of.Options[name]))
	}
	for _, variant := range of.variants {
		parts = append(parts, "|"+e.object(variant))
	}
	return e.objects.number(strings.Join(parts, " "))
}

// option writes name, marks, when, name in whose place it stands, and its forms.
func (e *encoder) option(name string, o *option) string {
	marks := ""
	if o.Required {
		marks += "!"
	}
	if o.Deprecated {
		marks += "~"
	}
	if o.isLenient {
		marks += "?"
	}
	parts := []string{name, marks, o.When, o.aliasOf}
	for _, kind := range slices.Sorted(maps.Keys(o.Type)) {
		parts = append(parts, e.form(kind, o.Type[kind]))
	}
	return e.options.number(strings.Join(parts, "\t"))
}

// form writes a kind and what there is of object, items, enum, syntax, unit and, to
// the end because it may have blanks, default.
func (e *encoder) form(kind string, of *form) string {
	parts := []string{kind}
	if of.Options != nil {
		parts = append(parts, "@"+e.object(of))
	}
	if of.Items != nil {
		parts = append(parts, "#"+e.option("", &option{Type: of.Items}))
	}
	if len(of.Enum) > 0 {
		parts = append(parts, "|"+strings.Join(of.Enum, "|"))
	}
	if of.Syntax != "" && of.Syntax != "literal" {
		parts = append(parts, "%"+of.Syntax)
	}
	if of.Unit != "" {
		parts = append(parts, "/"+of.Unit)
	}
	var plain bytes.Buffer
	if len(of.Default) > 0 {
		plain.Write(of.Default)
		parts = append(parts, "="+plain.String())
	}
	return strings.Join(parts, " ")
}
