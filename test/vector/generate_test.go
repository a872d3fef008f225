// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// mutant is a configuration that differs from a valid one in one place.
type mutant struct {
	// group is right, misspelled, extra, foreign (an option of another variant), form, value or
	// missing.
	group string
	// path is the path of the difference, such as sinks.http.batch.max_events.
	path string
	// isRefused is true if Vector rejects the mutant according to the tables.
	isRefused bool
	config    map[string]any
}

// generator creates configurations from the tables of a release: for each option of each component a valid one, and
// some with one difference.
type generator struct {
	mutants []mutant
}

// generate returns all mutants in a fixed order.
func generate() []mutant {
	g := &generator{}
	for _, kind := range []string{"sources", "transforms", "sinks"} {
		for _, name := range vectoroptions.Names(vectoroptions.Schema, kind) {
			object := vectoroptions.Component(vectoroptions.Schema, kind, name)
			g.object(kind+"."+name, object, 0, func(options map[string]any) map[string]any { return configuration(kind, name, options) }, nil)
		}
	}
	g.globals()
	return g.mutants
}

// configuration returns a configuration with one component, and the components that it needs.
func configuration(kind, name string, options map[string]any) map[string]any {
	port := 8079
	options, _ = assignPorts(options, &port).(map[string]any)
	options["type"] = name
	if one := choices[kind+"."+name]; one.options != nil && !slices.ContainsFunc(one.options, func(name string) bool { return options[name] != nil }) {
		options[one.options[0]] = one.value
	}
	// A vector source has events of all types.
	all := map[string]any{"sources": map[string]any{"in": map[string]any{"type": "vector", "address": "127.0.0.1:6000"}}}
	out := map[string]any{"type": "blackhole", "inputs": []any{"one*"}}
	switch kind {
	case "sources":
		all["sources"] = map[string]any{"one": options}
	case "transforms":
		options["inputs"] = []any{"in"}
		all["transforms"] = map[string]any{"one": options}
	default:
		options["inputs"] = []any{"in"}
		out = options
	}
	all["sinks"] = map[string]any{"out": out}
	return all
}

// choices are options of which one is required, with a valid value of the first one.
var choices = map[string]struct {
	options []string
	value   any
}{
	"transforms.remap": {[]string{"source", "file", "files"}, "true"}, "transforms.sample": {[]string{"rate", "ratio"}, 5},
	"sinks.elasticsearch": {[]string{"endpoints", "endpoint"}, []any{"http://127.0.0.1:9200"}}, "sinks.vector": {[]string{"address", "routing"}, "127.0.0.1:6000"},
}

// assignPorts gives every address its own port.
func assignPorts(value any, port *int) any {
	switch value := value.(type) {
	case map[string]any:
		fresh := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			fresh[name] = assignPorts(value[name], port)
		}
		return fresh
	case string:
		if value == "127.0.0.1:8080" {
			*port++
			return fmt.Sprintf("127.0.0.1:%d", *port)
		}
	}
	return value
}

// common are the options of all components of a kind. configuration sets them.
var common = []string{"type", "inputs"}

// deepest is the maximum number of nested maps.
const deepest = 4

// object mutates every option of a map. into returns the configuration with the map.
func (g *generator) object(path string, object *vectoroptions.Object, depth int, into func(map[string]any) map[string]any, tags map[string]string) {
	right := complete(object, tags, depth)
	g.add("extra", path, refusesExtra(variant(object, "", tags)), into(with(right, "color_of_mutant", "red")))
	g.variants(path, object, depth, into)
	for i := range object.Options {
		option := &object.Options[i]
		if depth == 0 && slices.Contains(common, option.Name) || len(option.Forms) == 0 {
			continue
		}
		if option.Name == "*" {
			g.freeKey(path, option, right, depth, into)
			continue
		}
		chosen := map[string]string{}
		maps.Copy(chosen, tags)
		if tag, value, ok := strings.Cut(strings.Split(option.Condition, " or ")[0], ` = "`); ok {
			chosen[tag] = strings.TrimSuffix(value, `"`)
		}
		if value, isText := valueOf(option.Name, option.Forms, depth).(string); isText && len(option.Forms[0].Values()) > 0 {
			chosen[option.Name] = value // It may tell variants apart.
		}
		shape := variant(object, option.Name, chosen)
		right := complete(shape, chosen, depth)
		delete(right, option.AliasOf)
		for _, other := range object.Options {
			if other.AliasOf == option.Name {
				delete(right, other.Name)
			}
		}
		g.option(path+"."+option.Name, object, shape, option, right, depth, into)
	}
}

// variants adds an option to every variant of a map: an unknown one, and the options of other variants.
func (g *generator) variants(path string, object *vectoroptions.Object, depth int, into func(map[string]any) map[string]any) {
	all := object.Variants()
	for _, one := range all {
		right := complete(one, tagged(one), depth)
		g.add("right", path, false, into(right))
		g.add("extra", path, refusesExtra(one), into(with(right, "color_of_mutant", "red")))
		for i := range object.Options {
			option := &object.Options[i]
			if one.Option(option.Name) != nil || option.Name == "*" {
				continue
			}
			foreign := with(right, option.Name, valueOf(option.Name, option.Forms, depth))
			g.add("foreign", path+"."+option.Name, !slices.ContainsFunc(all, func(other *vectoroptions.Object) bool { return suits(other, foreign) }), into(foreign))
		}
	}
}

// refusesExtra returns whether an object rejects unknown keys.
func refusesExtra(object *vectoroptions.Object) bool {
	return object.Denies && object.Option("*") == nil
}

// tagged returns the options with only one value, which distinguish a variant from others.
func tagged(one *vectoroptions.Object) map[string]string {
	all := map[string]string{}
	for i := range one.Options {
		option := &one.Options[i]
		if len(option.Forms) == 1 && len(option.Forms[0].Values()) == 1 && option.Name != "type" {
			all[option.Name] = option.Forms[0].Values()[0]
		}
	}
	return all
}

// suits returns whether the names and strings of a map are valid for a variant.
func suits(one *vectoroptions.Object, all map[string]any) bool {
	for name, value := range all {
		option := one.Option(name)
		if option == nil && one.Denies {
			return false
		}
		if text, isText := value.(string); isText && option != nil && len(option.Forms) == 1 && !option.Forms[0].Allows(text) {
			return false
		}
	}
	for i := range one.Options {
		if option := &one.Options[i]; option.Required && all[option.Name] == nil && !isNamed(one, all, option.Name) {
			return false
		}
	}
	return true
}

// freeKey mutates the value of a key that may have any name.
func (g *generator) freeKey(path string, option *vectoroptions.Option, right map[string]any, depth int, into func(map[string]any) map[string]any) {
	g.add("right", path+".*", false, into(with(right, "a", valueOf(option.Name, option.Forms, depth))))
	if wrong, ok := ofAnotherForm(option.Forms); ok {
		g.add("form", path+".*", true, into(with(right, "a", wrong)))
	}
	g.below(path+".*", option.Forms, depth, func(value any) map[string]any { return into(with(right, "a", value)) })
}

// below mutates the maps of a value or of its list.
func (g *generator) below(path string, forms []vectoroptions.Form, depth int, into func(any) map[string]any) {
	for _, form := range forms {
		if inner := form.Object(); inner != nil && depth < deepest && form.Kind != "condition" {
			g.object(path, inner, depth+1, func(options map[string]any) map[string]any { return into(options) }, nil)
		}
		items := form.Items()
		if len(items) == 0 || depth >= deepest {
			continue
		}
		if wrong, ok := ofAnotherForm(items); ok {
			g.add("form", path+"[0]", true, into([]any{wrong}))
		}
		g.below(path+"[0]", items, depth+1, func(value any) map[string]any { return into([]any{value}) })
	}
}

// variant returns the variant of an object that has an option and these tags, or the object itself.
func variant(object *vectoroptions.Object, name string, tags map[string]string) *vectoroptions.Object {
	for _, one := range object.Variants() {
		isOf := name == "" || one.Option(name) != nil
		for tag, value := range tags {
			if option := one.Option(tag); option == nil || len(option.Forms) > 0 && !option.Forms[0].Allows(value) {
				isOf = false
			}
		}
		if isOf {
			return one
		}
	}
	return object
}

// option mutates an option of an object or of one of its variants. shape is the object or variant of a valid
// configuration.
func (g *generator) option(path string, object, shape *vectoroptions.Object, option *vectoroptions.Option, right map[string]any, depth int, into func(map[string]any) map[string]any) {
	value := valueOf(option.Name, option.Forms, depth)
	right = with(right, option.Name, value)
	fill(shape, right, depth)
	g.add("right", path, false, into(right))
	if name := misspelled(option.Name); object.Option(name) == nil {
		slip := with(right, name, value)
		delete(slip, option.Name)
		g.add("misspelled", path, object.Denies || option.Required, into(slip))
	}
	if in := shape.Option(option.Name); option.AliasOf == "" && (option.Required || in != nil && in.Required) {
		less := maps.Clone(right)
		delete(less, option.Name)
		g.add("missing", path, option.Required, into(less))
	}
	if wrong, ok := ofAnotherForm(option.Forms); ok {
		g.add("form", path, !option.Lenient, into(with(right, option.Name, wrong)))
	}
	for _, form := range option.Forms {
		if form.Kind == "string" && len(form.Values()) > 0 {
			g.add("value", path, !option.Lenient, into(with(right, option.Name, "mutant")))
		}
	}
	g.below(path, option.Forms, depth, func(value any) map[string]any { return into(with(right, option.Name, value)) })
}

func (g *generator) add(group, path string, isRefused bool, config map[string]any) {
	g.mutants = append(g.mutants, mutant{group, path, isRefused, config})
}

func with(options map[string]any, name string, value any) map[string]any {
	fresh := maps.Clone(options)
	fresh[name] = value
	return fresh
}

// complete returns a map with all required options and these tags.
func complete(object *vectoroptions.Object, tags map[string]string, depth int) map[string]any {
	object = variant(object, "", tags)
	all := map[string]any{}
	for name, value := range tags {
		all[name] = value
	}
	fill(object, all, depth)
	return all
}

// fill adds the required options of a map.
func fill(object *vectoroptions.Object, all map[string]any, depth int) {
	for range 2 { // What is required may depend on a tag that is.
		for i := range object.Options {
			option := &object.Options[i]
			applies, isKnown := option.Applies(func(name string) (string, bool) {
				value, isText := all[name].(string)
				return value, isText || all[name] == nil
			})
			if _, isThere := all[option.Name]; !isThere && option.Required && option.Name != "*" && applies && isKnown && !isNamed(object, all, option.Name) {
				all[option.Name] = valueOf(option.Name, option.Forms, depth)
			}
		}
	}
}

// isNamed returns whether an option is set under another name.
func isNamed(object *vectoroptions.Object, all map[string]any, name string) bool {
	return slices.ContainsFunc(object.Options, func(other vectoroptions.Option) bool {
		return other.AliasOf == name && all[other.Name] != nil
	})
}

// texts has valid strings by syntax or option name.
var texts = map[string]string{
	"runtime": "ast", "source": "true", "charset": "utf-8", "priority": "5", "score": "5", "file": "/dev/null", "files": "/dev/null", "multicast_groups": "224.0.0.1", "multicast_interface": "0.0.0.0",
	"listen_address": "127.0.0.1:8080", "socket_address": "127.0.0.1:8080", "host_and_port": "a.example:8080", "uri": "http://a.example:8080",
	"time_zone": "UTC", "ip_net": "10.0.0.0/8", "target_path": ".a", "value_path": "a", "optional_target_path": ".a", "optional_value_path": "a", "glob": "*",
}

// valueOf returns a valid value of an option.
func valueOf(name string, forms []vectoroptions.Form, depth int) any {
	for _, kind := range []string{"condition", "string", "uint", "int", "float", "bool", "ascii_char", "array", "object", "any"} {
		for _, form := range forms {
			if form.Kind == kind {
				return ofForm(name, form, depth)
			}
		}
	}
	return "a"
}

func ofForm(name string, form vectoroptions.Form, depth int) any {
	switch form.Kind {
	case "uint", "int":
		if form.Syntax == "100..999" {
			return 200
		}
		return 1_000_000_000*map[bool]int{true: 1}[name == "max_size"] + 5
	case "float":
		return 0.5
	case "bool":
		return true
	case "condition":
		return "true"
	case "array":
		if items := form.Items(); len(items) > 0 {
			return []any{valueOf(name, items, depth+1)}
		}
		return []any{}
	case "object":
		inner := form.Object()
		if inner != nil && name == "labels" && inner.Options[0].Name == "*" {
			return map[string]any{"a": "a"} // Loki wants one.
		}
		if inner != nil && depth < 2*deepest {
			return complete(inner, nil, depth+1)
		}
		return map[string]any{}
	case "string":
		if values := form.Values(); len(values) > 0 {
			return values[0]
		}
		if text := texts[form.Syntax]; text != "" {
			return text
		}
		return named(name)
	}
	return "a"
}

// named returns a valid string for the name of an option.
func named(name string) string {
	if text := texts[name]; text != "" {
		return text
	}
	switch {
	case strings.Contains(name, "endpoint"), strings.Contains(name, "url"), strings.Contains(name, "uri"), strings.Contains(name, "host"):
		return "http://a.example:8080"
	case strings.Contains(name, "path"), strings.Contains(name, "file"), strings.Contains(name, "dir"), strings.Contains(name, "include"):
		return "/a"
	case strings.Contains(name, "address"):
		return "127.0.0.1:8080"
	}
	return "a"
}

// misspelled swaps the first two different letters.
func misspelled(name string) string {
	for i := range len(name) - 1 {
		if name[i] != name[i+1] && name[i] != '_' && name[i+1] != '_' {
			return name[:i] + name[i+1:i+2] + name[i:i+1] + name[i+2:]
		}
	}
	return name + "x"
}

// ofAnotherForm returns a value of an invalid type for an option, if one exists.
func ofAnotherForm(forms []vectoroptions.Form) (any, bool) {
	takes := map[string]bool{}
	for _, form := range forms {
		takes[form.Kind] = true
	}
	switch {
	case takes["any"]:
		return nil, false
	case !takes["bool"]:
		return true, true
	case !takes["array"] && !takes["object"]:
		return []any{true}, true
	}
	return nil, false
}
