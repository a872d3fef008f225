// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// exception is a line of exceptions.tsv: where Vector's code takes more than its data
// say, or, in the release of the schema alone, less. A path is "sinks.http.compression"; * is one part of it, ** any number.
type exception struct {
	path       []string
	what       string
	value      string
	from       string
	isNeeded   bool
	writtenAs  string
	configured string
}

// changes are what an exception may say.
var changes = map[string]func(of *form, name, value string) bool{
	// alias: Vector knows the option by another name too.
	"alias": func(of *form, name, value string) bool {
		if of.Options[value] != nil {
			return false
		}
		of.Options[value] = of.Options[name].clone()
		of.Options[value].Required, of.Options[value].aliasOf = false, name
		return true
	},
	// optional: Vector does without it.
	"optional": func(of *form, name, _ string) bool {
		was := of.Options[name].Required
		of.Options[name].Required = false
		return was
	},
	// takes: Vector takes a value of another kind.
	"takes": func(of *form, name, value string) bool {
		if of.Options[name].Type[value] != nil {
			return false
		}
		of.Options[name].Type[value] = &form{}
		return true
	},
	// value: Vector takes a value that is not listed, NEW=KNOWN where it is another name of one.
	"value": func(of *form, name, value string) bool {
		fresh, known, isName := strings.Cut(value, "=")
		text := of.Options[name].Type["string"]
		if text == nil || len(text.Enum) == 0 || slices.Contains(text.Enum, fresh) || isName && !slices.Contains(text.Enum, known) {
			return false
		}
		text.Enum = union(text.Enum, []string{fresh})
		return true
	},
	// required: Vector does not do without it.
	"required": func(of *form, name, _ string) bool {
		was := of.Options[name].Required
		of.Options[name].Required = true
		return !was
	},
	// refuses: Vector takes no value of a kind.
	"refuses": func(of *form, name, value string) bool {
		was := of.Options[name].Type[value] != nil
		delete(of.Options[name].Type, value)
		return was
	},
	// bounds: Vector takes numbers from MIN..MAX alone, or more than MIN with a > before it.
	"bounds": narrowed("uint", "float"),
	// syntax: Vector takes texts of a syntax alone.
	"syntax": narrowed("string"),
	// unknown: Vector knows no such option.
	"unknown": func(of *form, name, _ string) bool {
		delete(of.Options, name)
		return true
	},
	// option: Vector knows an option that is in neither; its value is not judged.
	"option": func(of *form, name, _ string) bool {
		of.Options[name] = &option{Type: typ{"any": {}}}
		return true
	},
}

// narrowed gives the first of several kinds that an option has a syntax.
func narrowed(kinds ...string) func(of *form, name, value string) bool {
	return func(of *form, name, value string) bool {
		for _, kind := range kinds {
			if one := of.Options[name].Type[kind]; one != nil {
				was := one.Syntax
				one.Syntax = value
				return was != value
			}
		}
		return false
	}
}

// narrows reports whether Vector takes less than its data say.
func (e *exception) narrows() bool {
	return slices.Contains([]string{"required", "refuses", "bounds", "syntax", "unknown"}, e.what)
}

func readExceptions(path string) ([]*exception, error) {
	var all []*exception
	for line, err := range rows(path) {
		if err != nil {
			return nil, err
		}
		if len(line) != 5 || changes[line[1]] == nil {
			return nil, fmt.Errorf("reading %q: the line %q is not PATH, CHANGE, VALUE, FROM and CONFIGURATION", path, line)
		}
		all = append(all, &exception{path: strings.Split(line[0], "."), what: line[1], value: line[2], from: line[3], configured: line[4], writtenAs: strings.Join(line, "\t")})
	}
	return all, nil
}

// readDenies reads the definitions that refuse options that they do not know, with the
// minor version since which they do; 0 for all releases.
func readDenies(path string) (map[string]int, error) {
	all := map[string]int{}
	for line, err := range rows(path) {
		if err != nil {
			return nil, err
		}
		if len(line) != 3 {
			return nil, fmt.Errorf("reading %q: the line %q is not DEFINITION, SINCE and FROM", path, line)
		}
		all[line[0]], _ = strconv.Atoi(strings.TrimPrefix(line[1], "0."))
	}
	return all, nil
}

// rows are the lines of a table, without its head, by their columns.
func rows(path string) func(func([]string, error) bool) {
	return func(yield func([]string, error) bool) {
		text, err := os.ReadFile(path)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			if !yield(strings.Split(line, "\t"), nil) {
				return
			}
		}
	}
}

// apply changes a release wherever the path leads.
func (e *exception) apply(of release) {
	for kind, components := range of {
		for name, component := range components {
			if rest := e.path[1:]; e.path[0] == "**" || e.path[0] == kind && (rest[0] == "*" || rest[0] == name) {
				component.each(func(of *form) {
					if e.path[0] != "**" {
						e.within(of, rest[1:])
						return
					}
					e.anywhere(of, rest)
				})
			}
		}
	}
}

// within follows the path down an object, through lists.
func (e *exception) within(of *form, path []string) {
	if len(path) == 1 {
		if of.Options[path[0]] != nil || e.what == "option" {
			e.isNeeded = changes[e.what](of, path[0], e.value) || e.isNeeded
		}
		return
	}
	if o := of.Options[path[0]]; o != nil {
		o.Type.objects(func(object *form) { e.within(object, path[1:]) })
	}
}

// anywhere looks for the path below every option of an object.
func (e *exception) anywhere(of *form, path []string) {
	e.within(of, path)
	for _, o := range of.Options {
		o.Type.objects(func(object *form) { e.anywhere(object, path) })
	}
}

// objects visits the objects of a type, those in lists included.
func (t typ) objects(visit func(*form)) {
	for _, of := range t {
		if of.Options != nil {
			of.each(visit)
		}
		of.Items.objects(visit)
	}
}
