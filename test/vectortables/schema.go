// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of a JSON schema with the options and their forms.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        oneOrMany          `json:"type"`
	Const       any                `json:"const"`
	Enum        []any              `json:"enum"`
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
	AllOf       []*schema          `json:"allOf"`
	Items       json.RawMessage    `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Additional  *schema            `json:"additionalProperties"`
	Required    []string           `json:"required"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	Default     json.RawMessage    `json:"default"`
	Deprecated  bool               `json:"deprecated"`
	Definitions map[string]*schema `json:"definitions"`
	Metadata    struct {
		Tag     string `json:"docs::enum_tag_field"`
		Numeric string `json:"docs::numeric_type"`
		Kind    string `json:"docs::type_override"`
		Name    string `json:"docs::component_name"`
	} `json:"_metadata"`
}

// oneOrMany is "string", or ["string", "null"].
type oneOrMany []string

func (o *oneOrMany) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMany{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// flattener turns schemas into types as the documentation data have them: the
// alternatives of an object become one object with the options of all.
type flattener struct {
	definitions map[string]*schema
	// denies has the definitions of objects that reject unknown options, with the first
	// version that does so. minor is the version of the schema.
	denies map[string]int
	minor  int
	open   []string
	// within is the definition, and the options below it, that a schema is in.
	within string
}

// typeOf returns the forms that a schema allows, null among them.
func (f *flattener) typeOf(s *schema) typ {
	if s.Ref != "" {
		return f.referred(strings.TrimPrefix(s.Ref, "#/definitions/"))
	}
	all := typ{}
	switch {
	case s.Const != nil:
		all.add(literal(s.Const))
	case len(s.Enum) > 0:
		for _, one := range s.Enum {
			all.add(literal(one))
		}
	case len(s.OneOf) > 0 || len(s.AnyOf) > 0:
		all = f.alternatives(s)
	case len(s.AllOf) > 0:
		return f.together(s)
	case len(s.Type) == 0:
		all.add(typ{"any": {}})
	}
	for _, name := range s.Type {
		all.add(f.simple(name, s))
	}
	return all
}

// referred is the type of a definition; one that is within itself goes as any.
func (f *flattener) referred(name string) typ {
	if slices.Contains(f.open, name) {
		return typ{"any": {}}
	}
	f.open = append(f.open, name)
	before, own := f.within, name
	if inner, ok := strings.CutPrefix(name, "core::option::Option<"); ok {
		own = strings.TrimSuffix(inner, ">")
	}
	f.within = own
	found := f.typeOf(f.definitions[name])
	f.open, f.within = f.open[:len(f.open)-1], before
	for _, kind := range []string{"string", "float"} {
		if syntax := syntaxes[own]; syntax != "" && found[kind] != nil {
			found[kind].Syntax = syntax
		}
	}
	if strings.HasSuffix(name, "::AdaptiveConcurrencySettings") {
		for _, o := range found["object"].Options {
			if number := o.Type["uint"]; number != nil {
				number.Syntax = "" // Documented, and not what its type is.
			}
		}
	}
	switch own {
	case "http::StatusCode":
		found["uint"].Syntax = "100..999"
	case "vector::common::http::server_auth::HttpServerAuthConfig":
		found["object"].share() // It is read by hand, with the options of every strategy.
	case "vector::sinks::util::buffer::compression::Compression":
		f.levels(found["object"]) // It is read by hand: which levels there are tells the algorithm.
	case "vector_core::event::metric::tags::TagValueSet":
		found = typ{"string": {}, "array": {Items: typ{"string": {}}}} // It is read by hand: the value of a tag, or several.
	case "vector_core::ipallowlist::IpAllowlistConfig":
		found["array"].Items["string"].Syntax = "ip_net"
	}
	f.deny(own, found)
	return found
}

// deny notes that the objects of a definition, of an option below one, or of one of its
// variants, refuse what they do not know.
func (f *flattener) deny(place string, found typ) {
	if since, ok := f.denies[place]; ok && f.minor >= since && found["object"] != nil {
		found["object"].each(func(of *form) { of.denies = true })
	}
}

// simple is one of JSON's own types.
func (f *flattener) simple(name string, s *schema) typ {
	switch name {
	case "string":
		return typ{"string": {}}
	case "boolean":
		return typ{"bool": {}}
	case "integer":
		if s.Metadata.Kind == "ascii_char" {
			return typ{"ascii_char": {}}
		}
		if s.Metadata.Numeric == "int" {
			return typ{"int": {Syntax: s.bounds()}}
		}
		return typ{"uint": {Syntax: s.bounds()}}
	case "number":
		return typ{"float": {}}
	case "array":
		items, several := &schema{}, []*schema{}
		if json.Unmarshal(s.Items, &several) == nil {
			items = &schema{OneOf: several}
		} else if json.Unmarshal(s.Items, items) != nil {
			return typ{"array": {Items: typ{"any": {}}}}
		}
		of := f.typeOf(items).withoutNull()
		f.deny(f.within+"[]", of)
		return typ{"array": {Items: of}}
	case "object":
		return typ{"object": {Options: f.options(s)}}
	}
	return typ{name: {}}
}

func (f *flattener) options(s *schema) map[string]*option {
	all := map[string]*option{}
	for name, property := range s.Properties {
		before := f.within
		f.within += "." + name
		found := f.typeOf(property).withoutNull()
		f.deny(f.within, found)
		f.within = before
		all[name] = &option{Type: found, Required: slices.Contains(s.Required, name), Deprecated: property.Deprecated}
		if len(property.Default) > 0 {
			all[name].Required = false
		}
	}
	if s.Additional != nil {
		all["*"] = &option{Type: f.typeOf(s.Additional).withoutNull()}
	}
	return all
}

// withoutNull leaves out null: an option may be null wherever it may be missing.
func (t typ) withoutNull() typ {
	delete(t, "null")
	return t
}

// together is what has to hold at once: the options of all its objects, of which one
// that may be null requires none, and is null where it cannot be read. That one of them refuses what it does not know says
// nothing of the others, unless those are only the tag that identifies it; a variant is read
// after all others, and refuses what they left.
func (f *flattener) together(s *schema) typ {
	all, objects := typ{}, []*form{}
	tags := len(slices.DeleteFunc(slices.Clone(s.AllOf), func(part *schema) bool { return !part.isTag() }))
	for _, part := range s.AllOf {
		of := f.typeOf(part)
		object := of["object"]
		if object != nil {
			object.denies = object.denies && tags == len(s.AllOf)-1
			objects = append(objects, object.clone())
		}
		if object != nil && of["null"] != nil {
			for _, o := range object.Options {
				o.Required, o.isLenient = false, true
			}
		}
		of.withoutNull()
		if object == nil || all["object"] == nil {
			all.add(of)
			continue
		}
		for name, o := range object.Options {
			if before := all["object"].Options[name]; before != nil {
				before.Type.add(o.Type)
				before.Required, before.isLenient = before.Required || o.Required, before.isLenient && o.isLenient
				continue
			}
			all["object"].Options[name] = o
		}
		all["object"].denies = all["object"].denies || object.denies
	}
	if all["object"] != nil {
		all["object"].variants = crossed(objects)
	}
	return all
}

// syntaxes are what a text or a number has to be, by the definition that says so: what Vector
// parses when it reads a configuration, and not only when it starts.
var syntaxes = map[string]string{
	"serde_with::DurationFractionalSeconds":                       "0..18446744073709549568", // The last one that Rust's Duration holds.
	"vector::template::Template":                                  "template",
	"vector_lookup::lookup_v2::ConfigTargetPath":                  "target_path",
	"vector_lookup::lookup_v2::ConfigValuePath":                   "value_path",
	"vector_lookup::lookup_v2::optional_path::OptionalTargetPath": "optional_target_path",
	"vector_lookup::lookup_v2::optional_path::OptionalValuePath":  "optional_value_path",
	"stdlib::SocketAddr":                                          "socket_address",
	"vector::sources::util::net::SocketListenAddr":                "listen_address",
	"vector::sinks::util::service::net::HostAndPort":              "host_and_port",
	"vector::sinks::util::uri::UriSerde":                          "uri",
	"vrl::compiler::datetime::TimeZone":                           "time_zone",
	"vector::sources::host_metrics::PatternWrapper":               "glob",
}

// bounds is MIN..MAX of a number, as far as they are those of its type: other bounds are
// only documented. From 1 on is what may not be 0.
func (s *schema) bounds() string {
	least, most := "", ""
	if s.Maximum != nil && slices.Contains([]float64{math.MaxUint8, math.MaxUint16, math.MaxUint32, math.MaxInt16, math.MaxInt32}, *s.Maximum) {
		most = strconv.FormatFloat(*s.Maximum, 'f', -1, 64)
	}
	if s.Minimum != nil && *s.Minimum == 1 && s.Maximum != nil && *s.Maximum > math.MaxInt8 {
		least = "1"
	}
	if least+most == "" {
		return ""
	}
	return least + ".." + most
}

// isTag reports whether a schema is only an option with a fixed value.
func (s *schema) isTag() bool {
	for _, property := range s.Properties {
		return len(s.Properties) == 1 && property.Const != nil
	}
	return false
}

// literal is the type of one value.
func literal(value any) typ {
	switch value := value.(type) {
	case string:
		return typ{"string": {Enum: []string{value}}}
	case bool:
		return typ{"bool": {}}
	case float64:
		return typ{"uint": {}}
	}
	return typ{"any": {}}
}

// add allows the forms of another type too, of which it changes nothing.
func (t typ) add(other typ) {
	for kind, fresh := range other {
		mine := t[kind]
		if mine == nil {
			t[kind] = fresh.clone()
			continue
		}
		if len(mine.Enum) == 0 || len(fresh.Enum) == 0 {
			mine.Enum = nil
		} else {
			mine.Enum = union(mine.Enum, fresh.Enum)
		}
		mine.denies = mine.denies && fresh.denies
		if mine.Syntax != fresh.Syntax {
			mine.Syntax = ""
		}
		if mine.Items != nil {
			mine.Items.add(fresh.Items)
		}
		for name, o := range fresh.Options {
			if before := mine.Options[name]; before != nil {
				before.Type.add(o.Type)
				before.Required, before.isLenient = before.Required && o.Required, before.isLenient || o.isLenient
			} else {
				mine.Options[name] = o.clone()
				mine.Options[name].Required = false
			}
		}
	}
}

func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// kinds of components, with the definitions of their types and of what all types have.
var kinds = []struct{ name, types, common string }{
	{"sources", "vector::sources::Sources", "vector::config::source::SourceOuter"},
	{"transforms", "vector::transforms::Transforms", "vector::config::transform::TransformOuter<alloc::string::String>"},
	{"sinks", "vector::sinks::Sinks", "vector::config::sink::SinkOuter<alloc::string::String>"},
}

// program is what the schema says of components, and of everything else as the
// component "vector" of the kind "globals".
func program(s *schema, denies map[string]int, minor int) release {
	f := &flattener{definitions: s.Definitions, denies: denies, minor: minor}
	all := release{"globals": {}}
	for _, kind := range kinds {
		all[kind.name] = map[string]*form{}
		for _, component := range s.Definitions[kind.types].OneOf {
			of := f.typeOf(component)["object"]
			for name, o := range f.options(s.Definitions[kind.common].AllOf[0]) {
				of.each(func(of *form) { of.Options[name] = o })
			}
			for _, name := range of.Options["type"].Type["string"].Enum {
				all[kind.name][name] = of
			}
		}
	}
	f.within = "vector::config::builder::ConfigBuilder"
	globals := f.typeOf(&schema{AllOf: s.AllOf})["object"]
	for _, others := range []string{"sources", "transforms", "sinks"} {
		delete(globals.Options, others)
	}
	globals.Options["api"].Type["object"].Options["address"].Type["string"].Syntax = "socket_address" // The schema has it as a text.
	all["globals"]["vector"] = globals
	return all
}
