// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"slices"
	"text/template/parse"
)

// Reads reports whether executing a template of the set may depend on the value
// at a path below the root, such as Reads("Values", "target"). It errs towards
// true: also where a value around the path is printed, compared or handed to a
// function that could look inside, where a key is computed, and wherever tpl is
// called. That a template which is included reads it counts when the path is
// part of what it is given.
func (s *Set) Reads(path ...string) bool {
	r := s.readersOf(path)
	return r.lost || len(r.nodes) > 0
}

// readersOf finds the nodes that may read a path.
func (s *Set) readersOf(path []string) *reader {
	r := &reader{set: s, path: path, seen: map[string]bool{}, nodes: map[parse.Node]bool{}}
	for _, name := range s.Names() {
		r.template(s.scope.definitions[name], view{{}})
	}
	return r
}

// view is what a value may be: any of some paths below the root. The empty view
// is a value that does not hold the data. A dict made by a template is a view of
// all that was put into it, with the key that it lies under.
type view []viewed

// viewed is one of them. A field is looked up first in made keys, then in the
// data.
type viewed struct {
	// under are the keys of a dict that a template made, outermost first.
	under []string
	path  []string
}

// reader finds out which nodes of templates may read a path: those whose own
// pipeline does, not those that stand in a branch of theirs. An execution that
// comes by none of them does not depend on the path.
type reader struct {
	set   *Set
	path  []string
	seen  map[string]bool
	nodes map[parse.Node]bool
	// at is the node at work.
	at parse.Node
	// lost tells that the set is too hard to follow: each node may be a reader.
	// It never becomes false again, so that everything may stop at it.
	lost bool
}

// found notes that the node at work may read the path.
func (r *reader) found() { r.nodes[r.at] = true }

// Bounds on the analysis of hostile sets; past them, it is lost.
const (
	maxViews  = 2000
	maxJoined = 100
	maxUnder  = 20
)

// template analyses a definition for a root, once for each root.
func (r *reader) template(template *definition, root view) {
	if template == nil || r.lost {
		return
	}
	id := template.name + "\x00" + root.id()
	if r.seen[id] {
		return
	}
	if r.seen[id] = true; len(r.seen) > maxViews {
		r.lost = true
		return
	}
	defer func(caller parse.Node) { r.at = caller }(r.at)
	walk := &readerFrame{reader: r, variables: map[string]view{"$": root}}
	// Again while variables change, since a loop may hand one from its end to its
	// beginning.
	for walk.changed = true; walk.changed && !r.lost; {
		walk.changed = false
		walk.list(root, template.root)
	}
}

// around reports whether a value at a path holds the path that is looked for.
func (r *reader) around(path []string) bool {
	return len(path) < len(r.path) && slices.Equal(path, r.path[:len(path)])
}

// below reports whether a path leads to what is looked for, or into it.
func (r *reader) below(path []string) bool {
	return len(path) >= len(r.path) && slices.Equal(path[:len(r.path)], r.path)
}

// use is a value handed to something that may look inside.
func (r *reader) use(values ...view) view {
	for _, value := range values {
		for _, one := range value {
			if r.around(one.path) || r.below(one.path) {
				r.found()
			}
		}
	}
	return nil
}

// field is the view of a key of a value. "" is a key that is not known.
func (r *reader) field(value view, key string) view {
	var result view
	for _, one := range value {
		switch {
		case len(one.under) > 0 && (key == "" || one.under[0] == key || one.under[0] == ""):
			result = append(result, viewed{under: one.under[1:], path: one.path})
		case len(one.under) > 0:
		case key == "" && r.around(one.path):
			r.found()
		default:
			path := append(slices.Clone(one.path), key)
			if r.below(path) {
				r.found()
			}
			// What does not lead to the path is no business of ours.
			if r.around(path) {
				result = append(result, viewed{path: path})
			}
		}
	}
	return r.join(result)
}

// join is what may be any of some views. One that gets too large to follow is made
// by hostile templates only.
func (r *reader) join(views ...view) view {
	joined := slices.Concat(views...)
	slices.SortFunc(joined, viewed.compare)
	joined = slices.CompactFunc(joined, func(a, b viewed) bool { return a.compare(b) == 0 })
	tooDeep := func(one viewed) bool { return len(one.under) > maxUnder }
	if len(joined) > maxJoined || slices.ContainsFunc(joined, tooDeep) {
		r.lost = true
		return nil
	}
	return joined
}

func (v viewed) compare(other viewed) int {
	if byKeys := slices.Compare(v.under, other.under); byKeys != 0 {
		return byKeys
	}
	return slices.Compare(v.path, other.path)
}

func (v view) id() string {
	id := ""
	for _, one := range v {
		for _, key := range one.under {
			id += key + "\x01"
		}
		for _, key := range one.path {
			id += "\x02" + key
		}
		id += "\x03"
	}
	return id
}

// put is a value under a key of a dict that a template makes.
func put(key string, value view) view {
	var result view
	for _, one := range value {
		result = append(result, viewed{under: append([]string{key}, one.under...), path: one.path})
	}
	return result
}

// constant is the text of a string node.
func constant(node parse.Node) (string, bool) {
	text, ok := node.(*parse.StringNode)
	if !ok {
		return "", false
	}
	return text.Text, true
}
