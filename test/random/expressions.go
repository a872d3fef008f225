// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package random

import "fmt"

func (g *Generator) key(depth int) string {
	if depth > 0 && g.rand.IntN(5) == 0 {
		return g.text(depth - 1)
	}
	return g.pick(`"name"`, `"labels"`, `"team"`, `"tier"`, `"other"`, `"containers"`, `"target"`, `"none"`, `"annotations"`)
}

// values is the tree of values, else the target.
func (g *Generator) values() string {
	if g.root == "" {
		return g.target
	}
	return g.root + ".Values"
}

func (g *Generator) any(depth int) string {
	return g.one(
		func() string { return g.text(depth) },
		func() string { return g.tree(depth) },
		func() string { return g.list(depth) },
		func() string { return g.truth(depth) },
		func() string { return g.known("any", g.target+".name") },
		func() string {
			return g.target + "." + g.pick("name", "kind", "other", "labels.team", "labels.other", "null", "none")
		},
		func() string { return fmt.Sprintf("(get %s %s)", g.tree(depth-1), g.key(depth-1)) },
		func() string { return fmt.Sprintf("(index %s %s)", g.tree(depth-1), g.key(depth-1)) },
		func() string {
			return fmt.Sprintf("(%s).%s", g.tree(depth-1), g.pick("name", "labels", "team", "other"))
		},
		func() string { return fmt.Sprintf("(index %s 0)", g.list(depth-1)) },
		func() string { return fmt.Sprintf("(and %s %s)", g.any(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf("(or %s %s)", g.any(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf("(coalesce %s %s)", g.any(depth-1), g.any(depth-1)) },
	)
}

// tree is a map.
func (g *Generator) tree(depth int) string {
	if depth <= 0 {
		return g.known("tree", g.pick(g.target, g.target, g.target+".labels", g.target+".annotations", g.values()))
	}
	in := func() string { return g.tree(depth - 1) }
	return g.one(
		func() string { return g.tree(0) },
		func() string { return g.tree(0) },
		func() string { return fmt.Sprintf(`(index %s "target")`, g.values()) },
		func() string { return fmt.Sprintf(`(get %s "labels")`, g.target) },
		func() string { return fmt.Sprintf(`(dict "name" %s "labels" %s)`, g.any(depth-1), in()) },
		func() string { return fmt.Sprintf(`(index (list 1 %s) 1)`, in()) },
		func() string { return fmt.Sprintf(`(first (list %s))`, in()) },
		func() string { return fmt.Sprintf(`(last (values (dict "a" %s)))`, in()) },
		func() string { return fmt.Sprintf(`(pick %s "name" %s)`, in(), g.key(depth-1)) },
		func() string { return fmt.Sprintf(`(omit %s %s)`, in(), g.key(depth-1)) },
		func() string { return fmt.Sprintf(`(default (dict "x" "y") %s)`, in()) },
		func() string { return fmt.Sprintf(`(ternary %s %s %s)`, in(), in(), g.truth(depth-1)) },
		func() string { return fmt.Sprintf(`(merge (dict "team" "x") %s)`, in()) },
		func() string {
			return fmt.Sprintf(`(mergeOverwrite (dict) %s (dict "team" %s))`, in(), g.text(depth-1))
		},
		func() string { return fmt.Sprintf(`(deepCopy %s)`, in()) },
		func() string { return fmt.Sprintf(`(fromYaml (toYaml %s))`, in()) },
		func() string { return fmt.Sprintf(`(fromJson (toJson %s))`, in()) },
		func() string { return fmt.Sprintf(`(set (dict) %s %s)`, g.key(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(set %s %s %s)`, in(), g.key(depth-1), g.text(depth-1)) },
		func() string { return fmt.Sprintf(`(unset %s %s)`, in(), g.key(depth-1)) },
		func() string { return fmt.Sprintf(`(dig "labels" (dict) %s)`, in()) },
		func() string {
			return fmt.Sprintf(`(first (pluck "target" %s (dict "target" (dict "name" "x"))))`, g.values())
		},
	)
}

// list is a list.
func (g *Generator) list(depth int) string {
	if depth <= 0 {
		return g.known("list", g.pick(g.target+".containers", g.target+".containers", `(list "a" "b")`))
	}
	in := func() string { return g.list(depth - 1) }
	return g.one(
		func() string { return g.list(0) },
		func() string { return g.list(0) },
		func() string { return fmt.Sprintf(`(sortAlpha (keys %s))`, g.tree(depth-1)) },
		func() string { return fmt.Sprintf(`(list %s %s)`, g.any(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(append %s %s)`, in(), g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(concat %s %s)`, in(), in()) },
		func() string {
			return fmt.Sprintf(`(pluck %s %s %s)`, g.key(depth-1), g.tree(depth-1), g.tree(depth-1))
		},
		func() string { return fmt.Sprintf(`(rest %s)`, in()) },
		func() string { return fmt.Sprintf(`(reverse %s)`, in()) },
		func() string { return fmt.Sprintf(`(without %s "a")`, in()) },
		func() string { return fmt.Sprintf(`(uniq %s)`, in()) },
		func() string { return fmt.Sprintf(`(slice (append %s 1) 1)`, in()) },
		func() string { return fmt.Sprintf(`(splitList "a" %s)`, g.text(depth-1)) },
		func() string { return fmt.Sprintf(`(tuple %s)`, g.tree(depth-1)) },
		func() string { return fmt.Sprintf(`(default (list) %s)`, in()) },
	)
}

// truth is a boolean.
func (g *Generator) truth(depth int) string {
	if depth <= 0 {
		return g.pick("true", "false", fmt.Sprintf("(hasKey %s %s)", g.target, g.key(0)), fmt.Sprintf("(empty %s.labels)", g.target))
	}
	return g.one(
		func() string { return fmt.Sprintf(`(hasKey %s %s)`, g.tree(depth-1), g.key(depth-1)) },
		func() string { return fmt.Sprintf(`(eq %s %s)`, g.text(depth-1), g.text(depth-1)) },
		func() string { return fmt.Sprintf(`(empty %s)`, g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(not %s)`, g.any(depth-1)) },
		func() string {
			return fmt.Sprintf(`(kindIs %s %s)`, g.pick(`"map"`, `"string"`, `"slice"`, `"invalid"`), g.any(depth-1))
		},
		func() string { return fmt.Sprintf(`(gt (len %s) %d)`, g.list(depth-1), g.rand.IntN(3)) },
		func() string { return fmt.Sprintf(`(lt (len %s) %d)`, g.tree(depth-1), g.rand.IntN(7)) },
		func() string { return fmt.Sprintf(`(has %s %s)`, g.any(depth-1), g.list(depth-1)) },
		func() string { return fmt.Sprintf(`(deepEqual %s %s)`, g.any(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(all %s %s)`, g.any(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(any %s %s)`, g.any(depth-1), g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(contains "a" %s)`, g.text(depth-1)) },
	)
}

// text is a string.
func (g *Generator) text(depth int) string {
	if depth <= 0 {
		return g.known("text", g.pick(`"team"`, `"cart"`, `"shop"`, `"a,b"`, g.target+".kind", fmt.Sprintf(`(%s.name | toString)`, g.target)))
	}
	in := func() string { return g.text(depth - 1) }
	return g.one(
		func() string { return g.text(0) },
		func() string { return fmt.Sprintf(`(%s | toString)`, g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(get %s %s | toString)`, g.tree(depth-1), g.key(depth-1)) },
		func() string { return fmt.Sprintf(`(dig "labels" %s "none" %s | toString)`, g.key(0), g.tree(depth-1)) },
		func() string {
			return fmt.Sprintf(`(index %s %s | default "none" | toString)`, g.tree(depth-1), g.key(depth-1))
		},
		func() string {
			return fmt.Sprintf(`(%s.%s | default %s | toString)`, g.target, g.pick("name", "other", "labels.team", "labels.none"), in())
		},
		func() string { return fmt.Sprintf(`(toYaml %s)`, g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(toJson %s)`, g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(print %s %s)`, g.any(depth-1), in()) },
		func() string { return fmt.Sprintf(`(printf "%%v-%%s" %s %s)`, g.any(depth-1), in()) },
		func() string { return fmt.Sprintf(`(quote %s)`, g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(cat %s %s)`, g.any(depth-1), in()) },
		func() string { return fmt.Sprintf(`(sha256sum %s)`, in()) },
		func() string { return fmt.Sprintf(`(trunc 3 %s)`, in()) },
		func() string { return fmt.Sprintf(`(kindOf %s)`, g.any(depth-1)) },
		func() string { return fmt.Sprintf(`(len %s | toString)`, g.list(depth-1)) },
		func() string { return fmt.Sprintf(`(join "," %s)`, g.list(depth-1)) },
		g.included,
		g.rendered,
	)
}

// included is what another template gives.
func (g *Generator) included() string {
	call, can := g.call()
	if !can {
		return g.text(0)
	}
	return fmt.Sprintf("(include %s)", call)
}

// rendered is a text of the values that is rendered.
func (g *Generator) rendered() string {
	return fmt.Sprintf(`(tpl %s %s)`, g.pick(
		"`{{ .name | toString }}`", "`{{ if hasKey . \"labels\" }}{{ len .labels }}{{ end }}`", "`{{ range $k, $v := . }}{{ $k }}{{ end }}`", `"plain"`,
	), g.tree(0))
}
