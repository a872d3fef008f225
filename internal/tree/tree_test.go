// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func workload() map[string]any {
	return map[string]any{
		"kind": "Deployment",
		"spec": map[string]any{"replicas": 2, "paused": nil, "template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app"}, "no map"},
		}}},
	}
}

func TestValue_ReturnsValueAtPath(t *testing.T) {
	for name, test := range map[string]struct {
		path  []string
		value any
		is    bool
	}{
		"the tree itself":   {nil, workload(), true},
		"a text":            {[]string{"kind"}, "Deployment", true},
		"below a map":       {[]string{"spec", "replicas"}, 2, true},
		"a null that is":    {[]string{"spec", "paused"}, nil, true},
		"what is not there": {[]string{"spec", "selector"}, nil, false},
		"below a text":      {[]string{"kind", "name"}, nil, false},
		"below a null":      {[]string{"spec", "paused", "by"}, nil, false},
		"below a list":      {[]string{"spec", "template", "spec", "containers", "0"}, nil, false},
	} {
		value, is := Value(workload(), test.path...)

		require.Equal(t, test.value, value, name)
		require.Equal(t, test.is, is, name)
	}
}

// Text, MapAt, Name and List return the zero value for a value of another type.
func TestText_ReturnsEmptyForOtherTypes(t *testing.T) {
	object := workload()

	require.Equal(t, "Deployment", Text(object, "kind"))
	require.Empty(t, Text(object, "spec"), "a map is no text")
	require.Empty(t, Text(nil, "spec", "kind"))
	require.Nil(t, MapAt(object, "kind"), "a text is no map")
	require.Len(t, MapAt(object, Pod...), 1)
	items := List(MapAt(object, Pod...)["containers"])
	require.Equal(t, "app", Name(items[0]))
	require.Empty(t, Name(items[1]))
	require.Nil(t, List(object["kind"]))
}

func TestEnsureMap_CreatesMissingMaps(t *testing.T) {
	object := workload()

	EnsureMap(object, "spec", "template", "metadata")["labels"] = "some"
	EnsureMap(object, "kind", "name")["of"] = "a text is replaced"

	require.Equal(t, "some", Text(object, "spec", "template", "metadata", "labels"))
	require.NotEmpty(t, MapAt(object, Pod...), "what is there stays")
	require.Equal(t, "a text is replaced", Text(object, "kind", "name", "of"))
}

// Two different paths never have the same text.
func TestJoinPath_WritesUniqueText(t *testing.T) {
	require.Equal(t, "sidecar.logs.path", JoinPath("sidecar", "logs", "path"))
	require.Equal(t, `annotations["example.com/team"].x`, JoinPath("annotations", "example.com/team", "x"))
	require.Empty(t, JoinPath())
	require.NotEqual(t, JoinPath("a", "b"), JoinPath("a.b"))
	require.NotEqual(t, JoinPath("a", `["b"]`), JoinPath("a", "b"))
}

// Reads are sorted, and a read of a whole value replaces the reads of its parts.
func TestJoinReads_DropsCoveredReads(t *testing.T) {
	labels, team, name := []string{"labels"}, []string{"labels", "team"}, []string{"name"}
	for what, test := range map[string]struct{ lists, want []Read }{
		"nothing":                       {nil, nil},
		"the same twice":                {[]Read{{name, Shape}, {name, Shape}}, []Read{{name, Shape}}},
		"sorted":                        {[]Read{{name, Shape}, {labels, Length}}, []Read{{labels, Length}, {name, Shape}}},
		"a length beside an item":       {[]Read{{labels, Length}, {team, Shape}}, []Read{{labels, Length}, {team, Shape}}},
		"the whole covers its parts":    {[]Read{{team, WholeValue}, {labels, Length}, {labels, WholeValue}, {name, Shape}}, []Read{{labels, WholeValue}, {name, Shape}}},
		"a whole part covers no parent": {[]Read{{team, WholeValue}, {labels, Shape}}, []Read{{labels, Shape}, {team, WholeValue}}},
		"all of it":                     {[]Read{{nil, WholeValue}, {name, WholeValue}, {labels, Length}}, []Read{{nil, WholeValue}}},
	} {
		half := len(test.lists) / 2
		joined := JoinReads(test.lists[:half], test.lists[half:])

		require.Len(t, joined, len(test.want), what)
		for i := range joined {
			require.True(t, joined[i].Equal(test.want[i]), "%s: %v", what, joined)
		}
	}
}
