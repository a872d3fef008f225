// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// leftOut are methods that templates cannot call: all of them modify the receiver, which
// other executions share.
var leftOut = []string{"chart.Dependency.Validate", "chart.Maintainer.Validate", "chart.Metadata.Validate"}

// Templates can call the methods of the values that they get. Only the listed methods exist.
func TestRootValues_HaveOnlyListedMethods(t *testing.T) {
	loaded, err := LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	values, err := loaded.Environments.Values("production")
	require.NoError(t, err)
	root := loaded.rootValues("a.yaml", Release{Name: "logs", Namespace: "shop"}, values.Tree, &chartutil.KubeVersion{})

	found := map[reflect.Type]bool{}
	collect(reflect.ValueOf(root), found)
	require.True(t, found[reflect.TypeFor[gotemplate.Files]()] && found[reflect.TypeFor[chartutil.KubeVersion]()])
	var refused []string
	for typ := range found {
		// The methods of an unnamed type are those of its embedded types.
		if typ.Name() == "" || typ.Kind() == reflect.Interface {
			continue
		}
		for method := range reflect.PointerTo(typ).Methods() {
			if !canCall(t, typ, method.Name) {
				refused = append(refused, typ.String()+"."+method.Name)
			}
		}
	}
	require.ElementsMatch(t, leftOut, refused)
}

// collect finds all types that templates can reach from a value: those that it has, and
// those that it could hold.
func collect(v reflect.Value, found map[reflect.Type]bool) {
	typ := v.Type()
	first := !found[typ]
	found[typ] = true
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			collect(v.Elem(), found)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if first {
			collect(reflect.Zero(typ.Elem()), found)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			collect(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), found)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			collect(entries.Value(), found)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				collect(value, found)
			}
		}
	}
}

// canCall reports whether a template can call a method, ignoring its arguments.
func canCall(t *testing.T, typ reflect.Type, method string) bool {
	t.Helper()
	set, err := gotemplate.Compile(map[string]string{"a.yaml": "{{ .value." + method + " }}"}, gotemplate.Options{Methods: templateMethods()})
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "a.yaml", map[string]any{"value": reflect.New(typ).Interface()})
	return err == nil || !strings.Contains(err.Error(), ".value has no ")
}
