// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/template"
)

// leftOut are the methods of what templates get that they cannot call: all of
// them change the receiver, which is that of other executions, too.
var leftOut = []string{"chart.Dependency.Validate", "chart.Maintainer.Validate", "chart.Metadata.Validate"}

func TestEveryMethodOfWhatTemplatesGetCanBeCalledOrIsLeftOut(t *testing.T) {
	loaded, err := Load(vectorsidecar.FS)
	require.NoError(t, err)
	values, err := loaded.Environments.Values("production")
	require.NoError(t, err)
	root := loaded.root("a.yaml", Release{Name: "logs", Namespace: "shop"}, values.Tree, &chartutil.KubeVersion{})

	found := map[reflect.Type]bool{}
	collect(reflect.ValueOf(root), found)
	require.True(t, found[reflect.TypeFor[template.Files]()] && found[reflect.TypeFor[chartutil.KubeVersion]()])
	var refused []string
	for typ := range found {
		// The methods of a type without a name are those of the types in it.
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

// collect finds all types that templates can come to from a value: those that it
// has, and those that it could hold.
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

// canCall tells whether a template that calls a method, without the arguments
// that it may need, finds it.
func canCall(t *testing.T, typ reflect.Type, method string) bool {
	t.Helper()
	set, err := template.Compile(map[string]string{"a.yaml": "{{ .value." + method + " }}"}, template.Options{Methods: methods()})
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "a.yaml", map[string]any{"value": reflect.New(typ).Interface()})
	return err == nil || !strings.Contains(err.Error(), ".value has no ")
}
