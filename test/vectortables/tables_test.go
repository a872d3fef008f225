// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// data is where the tables are, from this folder.
var data = filepath.Join("..", "..", tables)

// given is the folder of Vector's data.
func given(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FACTS")
	if folder == "" {
		t.Skip("SKIPPED: the tables are not held against Vector's data: name the folder in FACTS")
	}
	return folder
}

// further are files of releases beyond those in the folder, none as a rule.
func further() []string { return strings.Fields(os.Getenv("FURTHER")) }

// The committed table of Vector's options is the output of its generator.
func TestOptionsFile_EqualsOutputOfGenerator(t *testing.T) {
	fresh, err := build(given(t), data, further()...)
	require.NoError(t, err)
	committed, err := os.ReadFile(filepath.Join(data, "options.txt"))
	require.NoError(t, err)
	f, err := readFacts(given(t), further()...)
	require.NoError(t, err)
	require.Equal(t, vectoroptions.Newest, slices.Max(f.minors()), "raise Newest of internal/vectorlint/options")
	require.Equal(t, string(committed), fresh, "make vector-tables FACTS=DIR writes another table: nobody edits it")
}

// The table has each row of Vector's documentation, unless Vector's schema or a listed exception accepts more. Decoding
// an encoded table returns the same rows.
func TestRows_EqualVectorsDocumentation(t *testing.T) {
	f, err := readFacts(given(t), further()...)
	require.NoError(t, err)
	denies, err := readDenies(filepath.Join(data, "denies.tsv"))
	require.NoError(t, err)
	exceptions, err := readExceptions(filepath.Join(data, "exceptions.tsv"))
	require.NoError(t, err)
	bySchema, all := widened(f, denies, nil), widened(f, denies, exceptions)
	count := tally{narrowed: map[string]bool{}}
	for _, e := range exceptions {
		if e.narrows() {
			count.narrowed[e.path[len(e.path)-1]] = true
		}
	}
	for _, minor := range f.minors() {
		for kind, components := range all[minor] {
			for name, component := range components {
				decoded := vectoroptions.Component(minor, kind, name)
				if kind == "globals" {
					decoded = vectoroptions.Globals()
				}
				require.NotNil(t, decoded, "%s %s of 0.%d", kind, name, minor)
				require.Equal(t, describe(component), describeDecoded(decoded), "%s %s of 0.%d", kind, name, minor)
				if kind != "globals" {
					count.components++
					count.compare(t, kind+"."+name, f.releases[minor][kind][name], bySchema[minor][kind][name], component)
				}
			}
		}
	}
	t.Logf("%d releases, %d components of them, %d options: %d as documented, %d wider by the schema, %d by an exception; %d more that are not documented",
		len(all), count.components, count.options, count.same, count.bySchema, count.byException, count.hidden)
}

// The options of a release have exactly the components that Vector has in that release.
func TestComponent_IsMissingIfRemovedFromVector(t *testing.T) {
	f, err := readFacts(given(t), further()...)
	require.NoError(t, err)
	for _, minor := range f.minors() {
		for kind, components := range f.releases[schemaMinor] {
			for name := range components {
				require.Equal(t, f.releases[minor][kind][name] == nil, vectoroptions.Component(minor, kind, name) == nil, "%s %s of 0.%d", kind, name, minor)
			}
		}
	}
}

// tally counts rows: an option in a release and a component.
type tally struct {
	components, options, same, bySchema, byException, hidden int
	// narrowed are the names of options of which Vector takes less by an exception.
	narrowed map[string]bool
}

// compare holds an object to the documentation: what differs has to be wider.
func (c *tally) compare(t *testing.T, path string, documented, bySchema, all *form) {
	for name, o := range documented.Options {
		mine := all.Options[name]
		require.NotNil(t, mine, "%s.%s", path, name)
		c.options++
		require.Equal(t, o.When, mine.When, path)
		require.Equal(t, o.Deprecated, mine.Deprecated, path)
		require.True(t, o.Required || !mine.Required || bySchema.Options[name].Required || c.narrowed[name], "%s.%s is required, and neither Vector's data nor an exception say so", path, name)
		switch was, schema, is := row(o), row(bySchema.Options[name]), row(mine); is {
		case was:
			c.same++
		case schema:
			c.bySchema++
		default:
			c.byException++
		}
		if !c.narrowed[name] {
			c.below(t, path+"."+name, o.Type, bySchema.Options[name].Type, mine.Type)
		}
	}
	for name := range all.Options {
		if documented.Options[name] == nil {
			c.hidden++
		}
	}
}

func (c *tally) below(t *testing.T, path string, documented, bySchema, all typ) {
	for kind, of := range documented {
		mine := all[kind]
		require.NotNil(t, mine, "%s as %s", path, kind)
		require.Equal(t, string(of.Default), string(mine.Default), path)
		require.Equal(t, of.Unit, mine.Unit, path)
		if of.Syntax != "" && of.Syntax != "literal" {
			require.Equal(t, of.Syntax, mine.Syntax, path)
		}
		if len(mine.Enum) > 0 {
			require.Subset(t, mine.Enum, of.Enum, path)
		}
		if of.Items != nil {
			c.below(t, path+"[]", of.Items, bySchema[kind].Items, mine.Items)
		}
		if of.Options != nil {
			c.compare(t, path, of, bySchema[kind], mine)
		}
	}
}

// row is an option by itself, without what is below it.
func row(o *option) string {
	text := marks(o.Required, o.Deprecated) + o.When
	for _, kind := range slices.Sorted(maps.Keys(o.Type)) {
		text += " " + kind + " " + strings.Join(o.Type[kind].Enum, "|")
	}
	return text
}

func marks(required, deprecated bool) string {
	return map[bool]string{true: "required "}[required] + map[bool]string{true: "deprecated "}[deprecated]
}

func lenient(isLenient bool) string { return map[bool]string{true: "lenient "}[isLenient] }

// describe writes an object with all that is below it.
func describe(of *form) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of.Options)) {
		o := of.Options[name]
		b.WriteString(name + " " + marks(o.Required, o.Deprecated) + lenient(o.isLenient) + o.When + o.aliasOf + describeType(o.Type) + "\n")
	}
	for _, variant := range of.variants {
		b.WriteString("or " + describe(variant))
	}
	return map[bool]string{true: "denies "}[of.denies] + b.String()
}

func describeType(t typ) string {
	text := ""
	for _, kind := range slices.Sorted(maps.Keys(t)) {
		of := t[kind]
		syntax := of.Syntax
		if syntax == "literal" {
			syntax = ""
		}
		text += "\n " + kind + "|" + strings.Join(of.Enum, "|") + " " + syntax + " " + of.Unit + " " + string(of.Default)
		if of.Items != nil {
			text += "[" + describeType(of.Items) + "]"
		}
		if of.Options != nil {
			text += "{" + describe(of) + "}"
		}
	}
	return text
}

func describeDecoded(of *vectoroptions.Object) string {
	var b strings.Builder
	for _, o := range of.Options {
		b.WriteString(o.Name + " " + marks(o.Required, o.Deprecated) + lenient(o.Lenient) + o.Condition + o.AliasOf + describeForms(o.Forms) + "\n")
	}
	for _, variant := range of.Variants() {
		b.WriteString("or " + describeDecoded(variant))
	}
	return map[bool]string{true: "denies "}[of.Denies] + b.String()
}

func describeForms(forms []vectoroptions.Form) string {
	text := ""
	for _, of := range forms {
		text += "\n " + of.Kind + "|" + strings.Join(of.Values(), "|") + " " + of.Syntax + " " + of.Unit + " " + of.Default
		if of.Kind == "array" {
			text += "[" + describeForms(of.Items()) + "]"
		}
		if object := of.Object(); object != nil {
			text += "{" + describeDecoded(object) + "}"
		}
	}
	return text
}
