// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"fmt"
	"strings"
)

var yamlShapes = language{
	{"aliases of a text", func(g generator, size int) string {
		share := 1 + g.IntN(size)
		return "a: &a " + repeatText(share, "x") + "\nb: [" + repeatText(size-share+1, "*a,") + "]"
	}},
	{"aliases of aliases", func(g generator, size int) string {
		each := 2 + g.IntN(10)
		text := "l0: &l0 [x]"
		for n := 1; len(text) < size && n < 200; n++ {
			text += fmt.Sprintf("\nl%d: &l%d [%s]", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d,", n-1), each), ","))
		}
		return text
	}},
	{"merged maps", func(_ generator, size int) string {
		return "base: &base {" + strings.TrimSuffix(numbered(size/2, "k%d: 1,"), ",") + "}\n" + numbered(size/2, "m%d: {<<: *base}\n")
	}},
	{"merges of merges", func(_ generator, size int) string {
		text := "m0: &m0 {a: 1}"
		for n := 1; len(text) < size && n < 500; n++ {
			text += fmt.Sprintf("\nm%d: &m%d {<<: [*m%d, *m%d], k%d: 1}", n, n, n-1, n-1, n)
		}
		return text
	}},
	{"lists in lists", func(_ generator, size int) string { return "a: " + inDepth(size, "[", "1", "]") }},
	{"maps in maps", func(_ generator, size int) string { return "a: " + inDepth(size, "{a: ", "1", "}") }},
	{"dashes", func(_ generator, size int) string { return "a:\n  " + repeatText(size, "- ") + "1" }},
	{"questions", func(_ generator, size int) string { return repeatText(size, "? ") }},
	{"deep indentation", func(_ generator, size int) string {
		var text strings.Builder
		for n := 0; text.Len() < size; n++ {
			fmt.Fprintf(&text, "%sk:\n", strings.Repeat(" ", n))
		}
		return text.String()
	}},
	{"a wide list", func(_ generator, size int) string { return "a: [" + repeatText(size, "a,") + "]" }},
	{"a list of lists", func(_ generator, size int) string { return "a: [" + repeatText(size, "[],") + "]" }},
	{"a list of pairs", func(_ generator, size int) string { return "a: [" + repeatText(size, "a: b,") + "]" }},
	{"a list of nothings", func(_ generator, size int) string { return "a:\n" + repeatText(size, "-\n") }},
	{"a wide map", func(_ generator, size int) string { return numbered(size, "k%d: 1\n") }},
	{"the same key", func(_ generator, size int) string { return repeatText(size, "k: 1\n") }},
	{"a long key", func(g generator, size int) string {
		share := 1 + g.IntN(size)
		return "? " + repeatText(share, "k") + "\n:\n" + numbered(size-share+1, "  l%d: 1\n")
	}},
	{"long keys", func(g generator, size int) string {
		return "a: " + inDepth(size, "{"+repeatText(1+g.IntN(1000), "k")+": ", "1", "}")
	}},
	{"a long text", func(_ generator, size int) string { return "a: " + quoted(repeatText(size, "x")) }},
	{"escapes", func(_ generator, size int) string { return `a: "` + repeatText(size, `\u00e9`) + `"` }},
	{"a folded text", func(_ generator, size int) string { return "a: >\n" + repeatText(size, "  x\n\n") }},
	{"comments", func(_ generator, size int) string { return repeatText(size, "# x\n") + "a: 1" }},
	{"documents", func(_ generator, size int) string { return repeatText(size, "---\na: 1\n") }},
	{"anchors", func(_ generator, size int) string { return "a:\n" + numbered(size, "- &a%d x\n") }},
	{"tags", func(_ generator, size int) string {
		return "a:\n" + repeatText(size, "- !!binary eA==\n- !!set {a}\n- !x!y z\n")
	}},
	{"a long tag", func(_ generator, size int) string { return "a: !" + repeatText(size, "x") + " 1" }},
	{"numbers", func(_ generator, size int) string {
		return "a:\n" + repeatText(size, "- 1e400\n- 0x7fffffffffffffff\n- .inf\n- 1_0\n")
	}},
	{"a long number", func(_ generator, size int) string { return "a: " + repeatText(size, "9") }},
	{"dates", func(_ generator, size int) string {
		return "a:\n" + repeatText(size, "- 2001-12-14t21:59:43.10-05:00\n")
	}},
}

var jsonShapes = language{
	{"lists in lists", func(_ generator, size int) string { return inDepth(size, "[", "1", "]") }},
	{"maps in maps", func(_ generator, size int) string { return inDepth(size, `{"a":`, "1", "}") }},
	{"long keys in one another", func(g generator, size int) string {
		return inDepth(size, `{"`+repeatText(1+g.IntN(1000), "k")+`":`, "{"+strings.TrimSuffix(numbered(size/4, `"l%d":1,`), ",")+"}", "}")
	}},
	{"a wide list", func(_ generator, size int) string { return "[" + repeatText(size, "1,") + "1]" }},
	{"a list of maps", func(_ generator, size int) string { return "[" + repeatText(size, "{},") + "{}]" }},
	{"a wide map", func(_ generator, size int) string {
		return "{" + strings.TrimSuffix(numbered(size, `"k%d":1,`), ",") + "}"
	}},
	{"a long key", func(g generator, size int) string {
		share := 1 + g.IntN(size)
		return `{"` + repeatText(share, "k") + `":{` + strings.TrimSuffix(numbered(size-share+1, `"l%d":1,`), ",") + "}}"
	}},
	{"a long text", func(_ generator, size int) string { return `"` + repeatText(size, "x") + `"` }},
	{"many texts", func(_ generator, size int) string {
		return "[" + repeatText(size, `"`+strings.Repeat("x", 90)+`",`) + `""]`
	}},
	{"braces", func(_ generator, size int) string { return `"` + repeatText(size, "{{ . }}") + `"` }},
	{"numbers", func(_ generator, size int) string { return "[" + repeatText(size, "1e300,-0.1,") + "0]" }},
	{"a long number", func(_ generator, size int) string { return "0." + repeatText(size, "9") }},
	{"escapes", func(_ generator, size int) string { return `"` + repeatText(size, `\u003c\n`) + `"` }},
}

var tomlShapes = language{
	{"a dotted table", func(_ generator, size int) string { return "[" + repeatText(size, "a.") + "a]\n" }},
	{"a dotted key", func(_ generator, size int) string { return repeatText(size, "a.") + "a = 1\n" }},
	{"dotted tables", func(g generator, size int) string {
		return numbered(size, "["+repeatText(1+g.IntN(200), "a.")+"t%d]\nx = 1\n")
	}},
	{"tables in lists", func(_ generator, size int) string { return repeatText(size, "[[a.b]]\n") }},
	{"lists in lists of tables", func(_ generator, size int) string { return repeatText(size, "[[a]]\n[[a.b]]\n[[a.b.c]]\n") }},
	{"lists in lists", func(_ generator, size int) string { return "a = " + inDepth(size, "[", "1", "]") + "\n" }},
	{"tables in tables", func(_ generator, size int) string { return "a = " + inDepth(size, "{a = ", "1", "}") + "\n" }},
	{"a wide list", func(_ generator, size int) string { return "a = [" + repeatText(size, "1,") + "]\n" }},
	{"keys", func(_ generator, size int) string { return numbered(size, "k%d = 1\n") }},
	{"the same key", func(_ generator, size int) string { return repeatText(size, "k = 1\n") }},
	{"keys of one table", func(_ generator, size int) string { return numbered(size, "a.b.c%d = 1\n") }},
	{"a long key", func(_ generator, size int) string { return `"` + repeatText(size, "k") + "\" = 1\n" }},
	{"a long text", func(_ generator, size int) string { return "a = \"\"\"\n" + repeatText(size, "x\\\n  ") + "\"\"\"\n" }},
	{"comments", func(_ generator, size int) string { return repeatText(size, "# x\n") }},
	{"dates", func(_ generator, size int) string { return numbered(size, "d%d = 1979-05-27T07:32:00.999999-07:00\n") }},
	{"a long number", func(_ generator, size int) string { return "a = " + repeatText(size, "1_0") + "\n" }},
}

var vectorShapes = language{
	{"sources", func(_ generator, size int) string {
		return "sources:\n" + numbered(size, "  s%d: {type: demo_logs, format: json}\n") + "sinks: {out: {type: console, inputs: ['*'], encoding: {codec: json}}}\n"
	}},
	{"transforms that all take in all", func(_ generator, size int) string {
		return "sources: {in: {type: demo_logs, format: json}}\ntransforms:\n" + numbered(size, "  t%d: {type: remap, inputs: ['*'], source: '.'}\n")
	}},
	{"transforms in a row", func(_ generator, size int) string {
		var text strings.Builder
		text.WriteString("sources: {t0: {type: demo_logs, format: json}}\ntransforms:\n")
		for n := 1; text.Len() < size; n++ {
			fmt.Fprintf(&text, "  t%d: {type: remap, inputs: [t%d], source: '.'}\n", n, n-1)
		}
		return text.String() + "sinks: {out: {type: console, inputs: ['t*'], encoding: {codec: json}}}\n"
	}},
	{"a ring", func(_ generator, size int) string {
		var text strings.Builder
		text.WriteString("transforms:\n")
		count := max(1, size/60)
		for n := range count {
			fmt.Fprintf(&text, "  t%d: {type: remap, inputs: [t%d, t%d], source: '.'}\n", n, (n+1)%count, (n+7)%count)
		}
		return text.String()
	}},
	{"inputs", func(_ generator, size int) string {
		return configured("transforms: {t: {type: remap, source: '.', inputs: [" + numbered(size, "i%d,") + "]}}\n")
	}},
	{"the same input", func(_ generator, size int) string {
		return configured("transforms: {t: {type: remap, source: '.', inputs: [" + repeatText(size, "demo,") + "]}}\n")
	}},
	{"patterns", func(_ generator, size int) string {
		return configured("transforms: {t: {type: remap, source: '.', inputs: [" + numbered(size, "'*d*%d*e*m*o*',") + "]}}\n")
	}},
	{"routes", func(_ generator, size int) string {
		return configured("transforms: {t: {type: route, inputs: [demo], route: {" + strings.TrimSuffix(numbered(size, "r%d: 'true',"), ",") + "}}}\n")
	}},
	{"a program", func(_ generator, size int) string {
		return configured("transforms: {t: {type: remap, inputs: [demo], source: " + quoted(repeatText(size, ".a = .b + {{ c }} ?? \"x\"\n")) + "}}\n")
	}},
	{"variables", func(_ generator, size int) string {
		return configured("x: " + quoted(numbered(size, "${V%d:-x}$V ")) + "\n")
	}},
	{"secrets", func(_ generator, size int) string {
		return configured("x: " + quoted(numbered(size, "SECRET[a.k%d]")) + "\n")
	}},
	{"unknown options", func(_ generator, size int) string {
		return "sources:\n  in:\n    type: demo_logs\n" + numbered(size, "    formatt%d: json\n")
	}},
	{"unknown types", func(_ generator, size int) string {
		return "sources:\n" + numbered(size, "  s%d: {type: demo_logz}\n")
	}},
	{"files", func(_ generator, size int) string {
		return "sources: {in: {type: file, include: [" + strings.TrimSuffix(numbered(size, "/var/log/**/a%d*.log,"), ",") + "]}}\nsinks: {out: {type: console, inputs: [in], encoding: {codec: json}}}\n"
	}},
	{"tests", func(_ generator, size int) string {
		return configured("tests:\n" + numbered(size, "- {name: t%d, inputs: [{insert_at: demo, value: x}], outputs: []}\n"))
	}},
}

var schemaShapes = language{
	{"a schema that doubles", func(g generator, size int) string { return doubling(1 + min(size/80, 1+g.IntN(60))) }},
	{"schemas in one another", func(_ generator, size int) string { return inDepth(size, `{"not":`, "{}", "}") }},
	{"many alternatives", func(_ generator, size int) string {
		return `{"anyOf":[` + strings.TrimSuffix(numbered(size, `{"required":["k%d"]},`), ",") + "]}"
	}},
	{"alternatives of alternatives", func(g generator, size int) string {
		text, each := `{"type":"string"}`, 2+g.IntN(4)
		for len(text)*each < size && len(text) < 100_000 {
			text = `{"oneOf":[` + strings.TrimSuffix(strings.Repeat(text+",", each), ",") + `],"properties":{"sidecar":{"additionalProperties":{}}}}`
		}
		return text
	}},
	{"a pattern", func(_ generator, size int) string {
		return `{"patternProperties":{` + quoted("^("+inDepth(min(size, 5000), "(a*", "", ")*")+")$") + `:{"type":"object"}}}`
	}},
	{"a reference to itself", func(_ generator, _ int) string { return `{"allOf":[{"$ref":"#"}]}` }},
	{"references elsewhere", func(_ generator, size int) string {
		return `{"allOf":[` + strings.TrimSuffix(numbered(min(size, 5000), `{"$ref":"http://127.0.0.1:1/%d"},`), ",") + "]}"
	}},
	{"an enumeration", func(_ generator, size int) string {
		return `{"properties":{"sidecar":{"enum":[` + strings.TrimSuffix(numbered(size, `"e%d",`), ",") + "]}}}"
	}},
}
