// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// bomb is an input that costs much more to read than its size suggests.
type bomb struct {
	name string
	// text is the input itself; its size is reported.
	text string
	// carrier returns the objects that contain a text in a namespace, the VectorSidecar first.
	carrier carrier
	// names is a part of the operator's message about it.
	names string
}

type carrier func(namespace, text string) []client.Object

// label is the label of the Deployments for bombs.
const label, bombed = "logs", "bombed"

func sidecar(namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar("bomb", namespace).Selecting(label, bombed)
}

func deployment(namespace string) *objects.Deployment {
	return objects.NewDeployment("app", namespace).Labeled(label, bombed)
}

func inDefaults(namespace, text string) []client.Object {
	return []client.Object{sidecar(namespace).Build(), objects.NewConfigMap(meta.NamespaceDefaults, namespace, meta.NamespaceDefaultsKey, text), deployment(namespace).Build()}
}

func inAnnotation(namespace, text string) []client.Object {
	return []client.Object{sidecar(namespace).Build(), deployment(namespace).Annotated(meta.AnnotationValuesPrefix+"values.b", text).Build()}
}

func inline(namespace, text string) []client.Object {
	return []client.Object{sidecar(namespace).WithInlineConfig(text).Build(), deployment(namespace).Build()}
}

func referenced(key string) carrier {
	return func(namespace, text string) []client.Object {
		return []client.Object{sidecar(namespace).WithConfigMap("config", key).Build(), objects.NewConfigMap("config", namespace, key, text), deployment(namespace).Build()}
	}
}

func inValues(namespace, text string) []client.Object {
	object := sidecar(namespace).Build()
	object.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(text)}
	return []client.Object{object, deployment(namespace).Build()}
}

// inSet adds a file to the built-in template set.
func inSet(key string) carrier {
	return func(namespace, text string) []client.Object {
		set := objects.NewConfigMap("set-"+namespace, own, key, text)
		set.Labels = map[string]string{meta.LabelTemplateSet: set.Name}
		return []client.Object{sidecar(namespace).FromSet(set.Name).Build(), set, deployment(namespace).Build()}
	}
}

func times(n int, text string) string { return strings.Repeat(text, n) }

// aliases returns a scalar of some size, and count references to it.
func aliases(key string, size, count int) string {
	return fmt.Sprintf("%s: {a: &a %s, b: [%s]}\n", key, times(size, "x"), strings.TrimSuffix(times(count, "*a,"), ","))
}

// nested returns nested maps with keys of some length, and leaves in the innermost one.
func nested(depth, key, leaves int) string {
	var text strings.Builder
	for range depth {
		fmt.Fprintf(&text, `{"%s":`, times(key, "k"))
	}
	text.WriteString("{")
	for n := range leaves {
		fmt.Fprintf(&text, `%s"l%d":1`, map[bool]string{true: ","}[n > 0], n)
	}
	return text.String() + "}" + times(depth, "}")
}

// doubling returns a schema that doubles with each reference.
func doubling(count int) string {
	text := `{"definitions":{"d0":{"type":"object"}`
	for n := range count {
		text += fmt.Sprintf(`,"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]}`, n+1, n, n)
	}
	return text + fmt.Sprintf(`},"$ref":"#/definitions/d%d"}`, count)
}

// leaves returns a mapping with one long key above many scalars.
func leaves(key, count int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "? %s\n:\n", times(key, "k"))
	for n := range count {
		fmt.Fprintf(&text, "  l%d: 1\n", n)
	}
	return text.String()
}

// aliased returns a configuration that also contains a bomb.
func aliased(size, count int) string {
	return objects.VectorConfig("bomb") + fmt.Sprintf("x: &a %s\ny: [%s]\n", times(size, "x"), strings.TrimSuffix(times(count, "*a,"), ","))
}

// chosen returns the kinds that the command line names.
func chosen() []bomb {
	of := regexp.MustCompile(*only)
	return slices.DeleteFunc(kinds(), func(b bomb) bool { return !of.MatchString(b.name) })
}

// kinds returns the bombs with a name.
func kinds() []bomb {
	list := strings.TrimSuffix(times(240_000, "a,"), ",")
	long := strings.TrimSuffix(times(249_000, "a,"), ",")
	return []bomb{
		{"aliases in a namespace's defaults", aliases("values", 20_000, 20_000), inDefaults, meta.NamespaceDefaults},
		{"aliases in a workload's annotation", "[&a " + times(6_000, "x") + times(6_000, ",*a") + "]", inAnnotation, "values.b"},
		{"a workload's annotation above its limit", "[&a " + times(20_000, "x") + times(20_000, ",*a") + "]", inAnnotation, "metadata is too large"},
		{"aliases in an inline configuration", aliased(100_000, 10_000), inline, "sidecar.config.inline"},
		{"a table of 30,000 parts in TOML", "[" + strings.TrimSuffix(times(30_000, "a."), ".") + "]\n", referenced("vector.toml"), "ConfigMap"},
		{"a table of 250,000 parts in TOML", "[" + strings.TrimSuffix(times(250_000, "a."), ".") + "]\n", referenced("vector.toml"), "ConfigMap"},
		{"long keys around many values", nested(90, 1_000, 500), inValues, "spec"},
		// The API server's time to apply a status grows with the square of the depth: 0.3 s for 2,000, 3 s for 8,000.
		{"2,000 values in one another", times(2_000, `{"a":`) + "1" + times(2_000, "}"), inValues, "spec"},
		{"a long key above many leaves in YAML", leaves(200_000, 30_000), referenced("vector.yaml"), "ConfigMap"},
		{"many nodes in a namespace's defaults", "values: {a: [" + long + "]}\n", inDefaults, meta.NamespaceDefaults},
		{"many nodes in a referenced configuration", "sources: [" + long + "]\n", referenced("vector.yaml"), "ConfigMap"},
		{"many nodes in an inline configuration", "sources: [" + list + "]\n", inline, "sidecar.config.inline"},
		{"a schema that doubles", doubling(40), inSet("values.schema.json"), "values.schema.json"},
		{"a schema of a file", `{"$ref":"file:///etc/passwd"}`, inSet("values.schema.json"), "values.schema.json"},
		{"a large VectorSidecar", `{"a":"` + times(1_200_000, "x") + `"}`, inValues, "KiB"},
	}
}
