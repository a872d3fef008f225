// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"math/bits"
	"slices"

	"golang.org/x/tools/go/packages"
)

// graph has an edge from each file to the files whose declarations it names.
type graph map[string]map[string]bool

// arrowFigures counts the edges between the files of each package, and how many of them point up in the order of
// files that has the fewest such edges.
func (c *code) arrowFigures() []figure {
	var figures []figure
	total, up := 0, 0
	for _, p := range c.packages {
		arrows := c.arrowsIn(p)
		back := arrows.back()
		total, up = total+arrows.count(), up+back
		if back > 0 {
			figures = append(figures, count("arrows_back_up_in_"+short(p.PkgPath), back))
		}
	}
	slices.SortFunc(figures, func(a, b figure) int { return cmp.Compare(a.name, b.name) })
	return append([]figure{count("arrows_between_files", total), count("arrows_back_up", up)}, figures...)
}

func (c *code) arrowsIn(p *packages.Package) graph {
	arrows := graph{}
	for _, file := range p.Syntax {
		from := c.file(file.Pos())
		arrows[from] = map[string]bool{}
		ast.Inspect(file, func(node ast.Node) bool {
			name, ok := node.(*ast.Ident)
			if !ok {
				return true
			}
			used := p.TypesInfo.Uses[name]
			if used == nil || used.Pkg() != p.Types || !isDeclared(used) {
				return true
			}
			if to := c.file(used.Pos()); to != from {
				arrows[from][to] = true
			}
			return true
		})
	}
	return arrows
}

// isDeclared reports whether other files can name an object. Variables of functions and fields do not count: fields
// belong to their type.
func isDeclared(object types.Object) bool {
	if function, ok := object.(*types.Func); ok {
		return function.Pkg() != nil
	}
	return object.Pkg() != nil && object.Parent() == object.Pkg().Scope()
}

func (g graph) count() int {
	count := 0
	for _, to := range g {
		count += len(to)
	}
	return count
}

// back returns the minimum number of edges that point up, over all orders of files.
func (g graph) back() int {
	count := 0
	for _, circle := range g.circles() {
		count += g.least(circle)
	}
	return count
}

// circles returns the groups of files that name each other, directly or not.
func (g graph) circles() [][]string {
	reaches := map[string]map[string]bool{}
	for from := range g {
		reaches[from] = map[string]bool{}
		g.walk(from, reaches[from])
	}
	var found [][]string
	placed := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(g)) {
		var circle []string
		for _, to := range slices.Sorted(maps.Keys(reaches[from])) {
			if reaches[to][from] && !placed[to] {
				circle = append(circle, to)
				placed[to] = true
			}
		}
		if len(circle) > 1 {
			found = append(found, circle)
		}
	}
	return found
}

func (g graph) walk(from string, seen map[string]bool) {
	for to := range g[from] {
		if !seen[to] {
			seen[to] = true
			g.walk(to, seen)
		}
	}
}

// exactly is the number of files up to which all orders are tried. For more files, the order is an approximation.
const exactly = 20

func (g graph) least(files []string) int {
	if len(files) > exactly {
		return g.good(files)
	}
	// fewest[set] is the minimum number of upward edges among the files of the set, over all orders.
	from := make([]uint32, len(files))
	for i, file := range files {
		for j, other := range files {
			if g[file][other] {
				from[i] |= 1 << j
			}
		}
	}
	fewest := make([]int32, 1<<len(files))
	for set := 1; set < len(fewest); set++ {
		fewest[set] = 1 << 30
		for i := range files {
			if set>>i&1 == 1 {
				rest := uint32(set) &^ (1 << i)
				// This file is last: its edges to earlier files point up.
				fewest[set] = min(fewest[set], fewest[rest]+int32(bits.OnesCount32(from[i]&rest))) //nolint:gosec // at most 20
			}
		}
	}
	return int(fewest[len(fewest)-1])
}

// good picks as the next file the one with the fewest edges to earlier files.
func (g graph) good(files []string) int {
	left, before, up := slices.Clone(files), map[string]bool{}, 0
	cost := func(file string) int {
		in, out := 0, 0
		for _, other := range left {
			if g[other][file] {
				in++
			}
			if g[file][other] {
				out++
			}
		}
		return in - out
	}
	for len(left) > 0 {
		next := slices.MinFunc(left, func(a, b string) int { return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(a, b)) })
		for other := range g[next] {
			if before[other] {
				up++
			}
		}
		before[next] = true
		left = slices.DeleteFunc(left, func(file string) bool { return file == next })
	}
	return up
}
