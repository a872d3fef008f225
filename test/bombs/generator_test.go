// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// generator creates bombs: shapes of a language, nested, up to the size limit of their carrier, and sometimes
// invalid.
type generator struct{ *rand.Rand }

// language is the language of a carrier's text, with its known shapes.
type language []struct {
	name string
	// make returns a shape of about size bytes.
	make func(g generator, size int) string
}

// carriers lists the fields for texts, with the language and the size limit of each.
var carriers = []struct {
	name    string
	carrier carrier
	largest int
	shapes  language
	// frame is a format with the verb %s for the text.
	frame string
}{
	{"a namespace's defaults", inDefaults, 512 << 10, yamlShapes, "values:\n  a:\n%s"},
	{"a workload's annotation", inAnnotation, 28 << 10, yamlShapes, "a:\n%s"},
	{"an inline configuration in YAML", inline, 400 << 10, yamlShapes, "sources:\n  in:\n%s"},
	{"an inline configuration in TOML", inline, 400 << 10, tomlShapes, "[sources.in]\ntype = \"file\"\n%s"},
	{"an inline configuration", inline, 400 << 10, vectorShapes, "%s"},
	{"a referenced YAML", referenced("vector.yaml"), 512 << 10, yamlShapes, "sources:\n  in:\n%s"},
	{"a referenced TOML", referenced("vector.toml"), 512 << 10, tomlShapes, "%s"},
	{"a referenced JSON", referenced("vector.json"), 512 << 10, jsonShapes, `{"sources": {"in": %s}}`},
	{"a referenced configuration", referenced("vector.yaml"), 512 << 10, vectorShapes, "%s"},
	{"spec.values", inValues, 500_000, jsonShapes, `{"a": %s}`},
	{"spec.sidecar.config.raw", inRaw, 500_000, jsonShapes, `{"sources": {"in": %s}}`},
	{"spec.sidecar.sinks", inSink, 500_000, jsonShapes, `{"type": "console", "x": %s}`},
	{"values of a template set", inSet("values.yaml"), 512 << 10, yamlShapes, "values:\n  a:\n%s"},
	{"a schema of a template set", inSet("values.schema.json"), 512 << 10, schemaShapes, "%s"},
}

func inRaw(namespace, text string) []client.Object {
	raw := func(s *v1alpha1.SidecarSpec) {
		s.Config = &v1alpha1.ConfigSpec{Raw: &apiextensionsv1.JSON{Raw: []byte(text)}}
	}
	return []client.Object{sidecar(namespace).Sidecar(raw).Build(), deployment(namespace).Build()}
}

func inSink(namespace, text string) []client.Object {
	sink := func(s *v1alpha1.SidecarSpec) {
		s.Sinks = map[string]apiextensionsv1.JSON{"out": {Raw: []byte(text)}}
	}
	return []client.Object{sidecar(namespace).Sidecar(sink).Build(), deployment(namespace).Build()}
}

// bomb creates a bomb.
func (g generator) bomb() bomb {
	into := carriers[g.IntN(len(carriers))]
	size := 1 << g.IntN(20)
	size = min(size+g.IntN(size), into.largest)
	var names, texts []string
	for count := 1 + g.IntN(3); count > 0; count-- {
		shape := into.shapes[g.IntN(len(into.shapes))]
		names, texts = append(names, shape.name), append(texts, shape.make(g, max(1, size/count)))
		size -= min(size, len(texts[len(texts)-1]))
	}
	text := strings.Join(texts, "\n")
	if strings.HasPrefix(into.frame, "{") { // JSON has one value.
		text = "[" + strings.Join(texts, ",") + "]"
	}
	if strings.HasSuffix(into.frame, ":\n%s") {
		text = "    " + strings.ReplaceAll(text, "\n", "\n    ")
	}
	text = fmt.Sprintf(into.frame, text)
	name := fmt.Sprintf("%s in %s", strings.Join(names, " and "), into.name)
	if g.IntN(5) == 0 {
		text, name = g.broken(text), name+", broken"
	}
	return bomb{name: name, text: text[:min(len(text), into.largest)], carrier: into.carrier}
}

// broken inserts an invalid piece into a text.
func (g generator) broken(text string) string {
	odd := []string{"\t", "\x00", "\r", "{", "[", "}", "]", ":", "\"", "'", "&a", "*a", "|", ">", "---\n", "%", "#", "\u2028", "\ufeff", "{{", "${A}"}
	at := g.IntN(len(text))
	for at > 0 && at < len(text) && text[at]&0xC0 == 0x80 {
		at-- // Not within a character.
	}
	return text[:at] + odd[g.IntN(len(odd))] + text[at:]
}

// repeatText repeats a text up to about size bytes.
func repeatText(size int, text string) string { return strings.Repeat(text, max(1, size/len(text))) }

// numbered repeats a format with a number up to about size bytes.
func numbered(size int, format string) string {
	var text strings.Builder
	for n := 0; text.Len() < size; n++ {
		fmt.Fprintf(&text, format, n)
	}
	return text.String()
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	of, _ := json.Marshal(text) // A text always marshals.
	return string(of)
}

// inDepth nests pairs of opening and closing up to about size bytes.
func inDepth(size int, opening, inner, closing string) string {
	depth := max(1, size/(len(opening)+len(closing)))
	return strings.Repeat(opening, depth) + inner + strings.Repeat(closing, depth)
}

// configured returns a valid configuration with an additional key.
func configured(more string) string { return objects.VectorConfig("bomb") + more }
