// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"cmp"
	"maps"
	"slices"
	"text/template/parse"
)

// Usage describes which defines of a set its executed templates never call, with any data.
type Usage struct {
	// Unused are the defines that no call in an executed file can reach.
	Unused []Define
	// Computed are calls of templates with names that depend on the data, if they may reach defines that no
	// other call reaches.
	Computed []ComputedCall
}

// Position is a position in a file of a set.
type Position struct {
	// File is the full name of the file. Line and Column start at 1.
	File         string
	Line, Column int
}

func (p Position) compare(other Position) int {
	return cmp.Or(cmp.Compare(p.File, other.File), cmp.Compare(p.Line, other.Line), cmp.Compare(p.Column, other.Column))
}

// Define is a template that a file defines.
type Define struct {
	Position

	Name string
}

// ComputedCall is an include with a computed name, or a tpl with a computed text.
type ComputedCall struct {
	Position

	// Defines are the names of the defines that this call may reach but no earlier call reaches.
	Defines []string
}

// Usage returns which defines of the set are used. Its lists have the order of files and lines.
func (s *Set) Usage() Usage {
	finder := &usageFinder{scope: s.scope, reachable: map[*definition]bool{}}
	for _, name := range s.Names() {
		finder.markReachable(s.scope.findDefinition(name))
	}
	var usage Usage
	for n := 0; n < len(finder.computed); n++ { // A call may reach further calls.
		if defines := finder.resolveCall(finder.computed[n]); len(defines) > 0 {
			usage.Computed = append(usage.Computed, ComputedCall{finder.computed[n].position, defines})
		}
	}
	for name, defined := range s.scope.definitions {
		if name != defined.source.file && !finder.reachable[defined] {
			usage.Unused = append(usage.Unused, Define{defined.source.positionAt(defined.startPosition()), name})
		}
	}
	slices.SortFunc(usage.Unused, func(a, b Define) int { return a.compare(b.Position) })
	slices.SortFunc(usage.Computed, func(a, b ComputedCall) int { return a.compare(b.Position) })
	return usage
}

// positionAt converts a byte position in the source to a Position.
func (s *source) positionAt(position int) Position {
	located := s.errorAt(position, "")
	return Position{located.Template, located.Line, located.Column}
}

// usageFinder follows the calls of templates to find the definitions that are used.
type usageFinder struct {
	scope *scope
	// reachable contains the definitions that a call may reach. order contains them in the order in which they
	// were found.
	reachable map[*definition]bool
	order     []*definition
	computed  []patternCall
}

// patternCall is a call of templates with names that match a pattern.
type patternCall struct {
	pattern  namePattern
	position Position
}

// markReachable marks a definition and all definitions that it reaches through calls with constant names.
func (u *usageFinder) markReachable(called *definition) {
	if called == nil || u.reachable[called] {
		return
	}
	u.reachable[called] = true
	u.order = append(u.order, called)
	u.findCalls(called, nil)
}

// findCalls follows the calls in a definition. If a fixed position is passed, all calls have that position instead
// of their own.
func (u *usageFinder) findCalls(caller *definition, fixedPosition *Position) {
	names := newNameFinder(caller.root)
	walkNodes(caller.root, func(node parse.Node) {
		switch node := node.(type) {
		case *parse.TemplateNode:
			u.markReachable(u.scope.findDefinition(node.Name))
		case *parse.CommandNode:
			function, isCall := node.Args[0].(*parse.IdentifierNode)
			if !isCall || len(node.Args) < 2 || function.Ident != "include" && function.Ident != "tpl" {
				return
			}
			position := caller.source.positionAt(caller.source.nodeStart(node))
			if fixedPosition != nil {
				position = *fixedPosition
			}
			for _, pattern := range names.patternsFor(node.Args[1]) {
				switch {
				case function.Ident == "tpl" && !pattern.isExact(): // The text may call all templates.
					u.computed = append(u.computed, patternCall{matchAnyText()[0], position})
				case !pattern.isExact():
					u.computed = append(u.computed, patternCall{pattern, position})
				case function.Ident == "include":
					u.markReachable(u.scope.findDefinition(pattern[0]))
				default:
					u.findCallsInText(pattern[0], &position)
				}
			}
		}
	})
}

// findCallsInText follows the calls in a constant text of tpl, which all have the position of the tpl call.
func (u *usageFinder) findCallsInText(text string, position *Position) {
	definitions, err := parseSource(&source{file: textName, text: text})
	if err != nil {
		return // The execution reports it.
	}
	for _, definition := range definitions {
		u.findCalls(definition, position)
	}
}

// resolveCall marks the definitions that a computed call may reach. It returns the names of the defines that
// were not reached before.
func (u *usageFinder) resolveCall(call patternCall) (defines []string) {
	mark := len(u.order)
	for _, name := range slices.Sorted(maps.Keys(u.scope.definitions)) {
		if call.pattern.matches(name) {
			u.markReachable(u.scope.definitions[name])
		}
	}
	for _, def := range u.order[mark:] {
		if def.name != def.source.file {
			defines = append(defines, def.name)
		}
	}
	slices.Sort(defines)
	return defines
}
