// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package random generates random templates from the language and its functions. They read
// the target in every way, and print it everywhere. Most of them run without an error. The
// order of their output does not depend on the iteration order of maps.
package random

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator makes templates. What it makes follows from its source of randomness alone.
type Generator struct {
	rand *rand.Rand
	// root is the expression for the root of the values where the text at work stands, ""
	// where there is none, and target the one for what is given of it.
	root, target string
	variables    []variable
	count        int
	// inHelper is true if other helpers must not be called, because two might call each other.
	inHelper bool
}

// variable is one in sight, by what it holds.
type variable struct{ name, kind string }

// New returns a Generator.
func New(source *rand.Rand) *Generator { return &Generator{rand: source} }

// Template is the text of a template. Its root has Values with text, key, list and target;
// target has name, kind, labels, annotations, containers, and what else there is.
func (g *Generator) Template() string {
	g.begin("$", "$.Values.target", false)
	return g.statements(g.rand.IntN(3))
}

// Helpers are the templates that Template includes.
func (g *Generator) Helpers() string {
	var text strings.Builder
	for name, places := range [][2]string{{"$", "$.Values.target"}, {"$.root", "$.of"}, {"", "$"}} {
		g.begin(places[0], places[1], true)
		fmt.Fprintf(&text, "{{ define \"h%d\" }}%s{{ end }}\n", name, g.statements(g.rand.IntN(2)))
	}
	return text.String()
}

func (g *Generator) begin(root, target string, inHelper bool) {
	g.root, g.target, g.variables, g.inHelper = root, target, nil, inHelper
}

func (g *Generator) pick(of ...string) string { return of[g.rand.IntN(len(of))] }

// one makes one of several expressions.
func (g *Generator) one(of ...func() string) string { return of[g.rand.IntN(len(of))]() }

func (g *Generator) statements(depth int) string {
	var text strings.Builder
	mark := len(g.variables)
	for range 1 + g.rand.IntN(3) {
		text.WriteString(g.statement(depth) + "\n")
	}
	g.variables = g.variables[:mark]
	return text.String()
}

func (g *Generator) statement(depth int) string {
	if depth <= 0 {
		return g.printed(g.rand.IntN(3))
	}
	block := func() string { return g.statements(depth - 1) }
	switch g.rand.IntN(11) {
	case 0, 1:
		return fmt.Sprintf("{{ if %s }}%s{{ else }}%s{{ end }}", g.any(depth), block(), block())
	case 2:
		return fmt.Sprintf("{{ with %s }}{{ . | toJson }}%s{{ else }}%s{{ end }}", g.any(depth), block(), block())
	case 3:
		return fmt.Sprintf("{{ range %s }}{{ . | toJson }}%s{{ else }}%s{{ end }}", g.one(func() string { return g.list(depth) }, func() string { return g.tree(depth) }), block(), block())
	case 4:
		return g.loop(depth)
	case 5, 6, 7:
		kind := g.pick("tree", "list", "text", "any")
		value := g.of(kind, depth)
		return fmt.Sprintf("{{ %s := %s }}", g.declare(kind), value)
	case 8:
		if len(g.variables) > 0 {
			into := g.variables[g.rand.IntN(len(g.variables))]
			return fmt.Sprintf("{{ if %s }}{{ %s = %s }}{{ end }}", g.truth(1), into.name, g.of(into.kind, depth))
		}
	case 9:
		if call, can := g.call(); can {
			return fmt.Sprintf("{{ template %s }}", call)
		}
	}
	return g.printed(depth)
}

func (g *Generator) loop(depth int) string {
	of, mark := g.tree(depth), len(g.variables)
	defer func() { g.variables = g.variables[:mark] }()
	key, item := g.declare("text"), g.declare("any")
	return fmt.Sprintf("{{ range %s, %s := %s }}%s{{ if %s }}{{ break }}{{ end }}{{ end }}", key, item, of, g.statements(depth-1), g.truth(1))
}

func (g *Generator) declare(kind string) string {
	g.count++
	made := variable{fmt.Sprintf("$v%d", g.count), kind}
	g.variables = append(g.variables, made)
	return made.name
}

func (g *Generator) printed(depth int) string { return fmt.Sprintf("{{ %s }}", g.text(depth)) }

func (g *Generator) of(kind string, depth int) string {
	switch kind {
	case "tree":
		return g.tree(depth)
	case "list":
		return g.list(depth)
	case "text":
		return g.text(depth)
	}
	return g.any(depth)
}

// known is a variable of a kind, else what else there is.
func (g *Generator) known(kind, otherwise string) string {
	var names []string
	for _, one := range g.variables {
		if one.kind == kind {
			names = append(names, one.name)
		}
	}
	if len(names) == 0 || g.rand.IntN(2) == 0 {
		return otherwise
	}
	return g.pick(names...)
}

// call is a template and what it is given.
func (g *Generator) call() (string, bool) {
	if g.inHelper {
		return "", false
	}
	return g.pick(`"h0" $`, fmt.Sprintf(`"h1" (dict "root" $ "of" %s)`, g.tree(1)), fmt.Sprintf(`"h2" %s`, g.tree(1))), true
}
