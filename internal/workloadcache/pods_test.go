// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// Workloads with equal pod templates share the memory for them.
func TestReduce_SharesPodOfOneShape(t *testing.T) {
	first, other := fieldmanager.New(t).Live(), fieldmanager.New(t).Live()
	other.Name, other.UID, other.Labels = "till", "other", map[string]string{"app": "till"}
	other.Spec.Template.Spec.Containers[0].Image = "till:2"
	cache := New()
	record, otherRecord := cache.Reduce(first), cache.Reduce(other)
	require.Same(t, record.pod, otherRecord.pod)

	other.Spec.Template.Spec.Containers[0].Name = "till"
	require.NotSame(t, record.pod, cache.Reduce(other).pod)
}

// Each field of a View is changed alone. The changed View is not shared with the original one.
func TestSharePod_SharesOnlyEqualViews(t *testing.T) {
	shared := newInterned[digest, workload.PodView]()
	views := []*workload.PodView{sharePod(shared, &workload.PodView{})}
	add := func(change func(*workload.PodView)) {
		view := &workload.PodView{}
		change(view)
		views = append(views, sharePod(shared, view))
	}
	for field := range reflect.TypeFor[workload.PodView]().NumField() {
		add(func(v *workload.PodView) { fill(t, reflect.ValueOf(v).Elem().Field(field)) })
	}
	for field := range reflect.TypeFor[workload.Container]().NumField() {
		add(func(v *workload.PodView) {
			v.Containers = []workload.Container{{Name: "app"}}
			fill(t, reflect.ValueOf(&v.Containers[0]).Elem().Field(field))
		})
	}
	for field := range reflect.TypeFor[workload.Volume]().NumField() {
		add(func(v *workload.PodView) {
			v.Volumes = []workload.Volume{{Name: "logs"}}
			fill(t, reflect.ValueOf(&v.Volumes[0]).Elem().Field(field))
		})
	}
	for i := range views {
		for j := range i {
			require.NotSame(t, views[i], views[j], "%+v and %+v", views[i], views[j])
		}
	}
}

// fill sets a field to a value other than zero.
func fill(t *testing.T, field reflect.Value) {
	t.Helper()
	switch field.Kind() {
	case reflect.String:
		field.SetString("x")
	case reflect.Bool:
		field.SetBool(true)
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
	case reflect.Map:
		field.Set(reflect.MakeMap(field.Type()))
		field.SetMapIndex(reflect.ValueOf("x"), reflect.ValueOf("y"))
	default:
		t.Fatalf("no value for %s", field.Type())
	}
}
