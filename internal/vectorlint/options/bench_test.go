// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// components are those of a release, as KIND NAME.
func components(minor int) []string {
	var all []string
	for _, kind := range []string{"sources", "transforms", "sinks"} {
		for _, name := range Names(minor, kind) {
			all = append(all, kind+" "+name)
		}
	}
	return all
}

// fresh is the table with nothing decoded.
func fresh() *tables {
	t := table()
	return &tables{options: t.options, objects: t.objects, releases: t.releases, decoded: make([]atomicObject, len(t.objects))}
}

// all decodes an object and everything below it, and counts the options.
func (t *tables) all(o *Object) int {
	count := len(o.Options)
	for _, option := range o.Options {
		count += t.below(option.Forms)
	}
	return count
}

func (t *tables) below(forms []Form) (count int) {
	for _, form := range forms {
		if form.object != "" {
			count += t.all(t.object(form.object))
		}
		if form.items != "" {
			count += t.below(t.forms(form.items))
		}
	}
	return count
}

// Each component, also the largest, is decoded with few allocations.
func TestComponent_DecodesWithFewAllocations(t *testing.T) {
	for _, name := range components(Oldest) {
		kind, name, _ := strings.Cut(name, " ")
		first := fresh()
		decoded := testing.AllocsPerRun(1, func() {
			clear(first.decoded)
			first.all(first.component(Oldest, kind, name))
		})
		require.LessOrEqual(t, decoded, 200.0, "%s %s", kind, name)
	}
}

// The embedded table of all Vector options is smaller than 400 KiB, because it is part of the operator and the plugin.
func TestText_StaysBelowSizeLimit(t *testing.T) {
	require.Less(t, len(text), 400<<10)
}

// The oldest release is the farthest one to find; everything is decoded, which no
// configuration asks for.
func BenchmarkComponent(b *testing.B) {
	for _, name := range []string{"sinks http", "sinks aws_s3", "sources kubernetes_logs", "transforms remap"} {
		kind, component, _ := strings.Cut(name, " ")
		b.Run(strings.ReplaceAll(name, " ", "."), func(b *testing.B) {
			first := fresh()
			b.ReportAllocs()
			for b.Loop() {
				clear(first.decoded)
				first.all(first.component(Oldest, kind, component))
			}
		})
	}
}

// What the first component costs beyond the others.
func BenchmarkFindingTheLines(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		splitTables(text)
	}
}
