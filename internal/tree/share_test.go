// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// Parts of a value that equal those of an earlier value are replaced by the earlier ones, which saves memory.
func TestShare_ReusesEqualParts(t *testing.T) {
	of := func(annotation string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"a": annotation}, "labels": map[string]any{"b": "c"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "vector", "args": []any{"-c", int64(1)}}}, "hostNetwork": nil},
		}
	}
	isShared := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	earlier, fresh := of("old"), of("new")
	before := runtime.DeepCopyJSON(earlier)

	shared, ok := Share(fresh, earlier).(map[string]any)

	require.True(t, ok)
	require.Equal(t, of("new"), shared)
	require.Equal(t, before, earlier)
	require.True(t, isShared(earlier["spec"], shared["spec"]))
	require.True(t, isShared(MapAt(earlier, "metadata", "labels"), MapAt(shared, "metadata", "labels")))
	require.False(t, isShared(MapAt(earlier, "metadata"), MapAt(shared, "metadata")))
	require.True(t, isShared(earlier, Share(of("old"), earlier)))
}

// Similar parts that are not equal, such as an empty list and null, are not replaced.
func TestShare_KeepsDifferentParts(t *testing.T) {
	for name, test := range map[string]struct{ fresh, earlier any }{
		"an empty list and none":        {map[string]any{"a": []any{}}, map[string]any{}},
		"an empty list and null":        {map[string]any{"a": []any{}}, map[string]any{"a": nil}},
		"null and none":                 {map[string]any{"a": nil}, map[string]any{}},
		"a shorter list":                {[]any{"a"}, []any{"a", "b"}},
		"a longer list":                 {[]any{"a", "b"}, []any{"a"}},
		"a number and a text":           {map[string]any{"a": int64(1)}, map[string]any{"a": "1"}},
		"a map and a list":              {map[string]any{"a": map[string]any{}}, map[string]any{"a": []any{}}},
		"numbers of different types":    {map[string]any{"a": int64(1)}, map[string]any{"a": float64(1)}},
		"one more key in the earlier":   {map[string]any{"a": map[string]any{"b": "c"}}, map[string]any{"a": map[string]any{"b": "c", "d": "e"}}},
		"one more key in the fresh one": {map[string]any{"a": map[string]any{"b": "c", "d": "e"}}, map[string]any{"a": map[string]any{"b": "c"}}},
	} {
		want, before := runtime.DeepCopyJSONValue(test.fresh), runtime.DeepCopyJSONValue(test.earlier)
		require.Equal(t, want, Share(test.fresh, test.earlier), name)
		require.Equal(t, before, test.earlier, name)
	}
}
