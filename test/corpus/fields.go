// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/fields"
)

//go:embed fields.yaml
var table []byte

//go:embed kinds.yaml
var tableOfKinds []byte

// places maps the first word of a field's name to the location of the field.
var places = map[string]struct {
	of   reflect.Type
	wrap func(map[string]any) map[string]any
	// isOfKind reports that only workloads of one kind have these fields.
	isOfKind bool
}{
	"metadata": {of: reflect.TypeFor[metav1.ObjectMeta](), wrap: func(m map[string]any) map[string]any { return map[string]any{"metadata": m} }},

	"deployment":  {reflect.TypeFor[appsv1.DeploymentSpec](), spec, true},
	"statefulset": {reflect.TypeFor[appsv1.StatefulSetSpec](), spec, true},
	"daemonset":   {reflect.TypeFor[appsv1.DaemonSetSpec](), spec, true},
	"cronjob":     {reflect.TypeFor[batchv1.CronJobSpec](), spec, true},
	"rollout":     {reflect.TypeFor[rolloutSpec](), spec, true},
	"job": {reflect.TypeFor[batchv1.JobSpec](), func(m map[string]any) map[string]any {
		return spec(map[string]any{"jobTemplate": map[string]any{"spec": m}})
	}, true},

	"pods": {of: reflect.TypeFor[metav1.ObjectMeta](), wrap: func(m map[string]any) map[string]any { return template("metadata", m) }},
	"pod":  {of: reflect.TypeFor[corev1.PodSpec](), wrap: pod},
	"app": {of: reflect.TypeFor[corev1.Container](), wrap: func(m map[string]any) map[string]any {
		return pod(map[string]any{"containers": []any{merged(map[string]any{"name": "app"}, m)}})
	}},
	"init": {of: reflect.TypeFor[corev1.Container](), wrap: func(m map[string]any) map[string]any {
		return pod(map[string]any{"initContainers": []any{merged(map[string]any{"name": "migrate"}, m)}})
	}},
}

func spec(m map[string]any) map[string]any { return map[string]any{"spec": m} }

func template(key string, value any) map[string]any {
	return map[string]any{"spec": map[string]any{"template": map[string]any{key: value}}}
}

func pod(spec map[string]any) map[string]any { return template("spec", spec) }

// Field is a field of a workload, and its possible values.
type Field struct {
	// Name is the location and the name in JSON, such as pod.dnsConfig.
	Name string `json:"field"`
	// Values are complete values of the field.
	Values []any `json:"values"`
	// Refused lists which of "null" and "empty" the API server rejects.
	Refused []string `json:"refused"`
	// Beside are other fields of the pod that the field requires.
	Beside map[string]any `json:"beside"`
	// Without are fields that cannot be combined with it.
	Without []string `json:"without"`
	// Unshared reports that only the first owner can write it.
	Unshared bool `json:"unshared"`
	// Kinds are the kinds that can have it, empty for all.
	Kinds []string `json:"kinds"`
	// NotInit reports that init containers cannot have this field of containers.
	NotInit bool `json:"notInit"`
}

// Fields returns all fields of the tables. Fields of containers are listed for the application's container and for
// an init container.
func Fields() ([]*Field, error) {
	var read []*Field
	for _, text := range [][]byte{tableOfKinds, table} {
		var some []*Field
		if err := yaml.UnmarshalStrict(text, &some); err != nil {
			return nil, fmt.Errorf("reading the tables of fields: %w", err)
		}
		read = append(read, some...)
	}
	var all []*Field
	for _, field := range read {
		all = append(all, field)
		name, isContainers := strings.CutPrefix(field.Name, "app.")
		if !isContainers || field.NotInit {
			continue
		}
		copied := *field
		copied.Name = "init." + name
		all = append(all, &copied)
	}
	for _, field := range all {
		if field.goType() == nil {
			return nil, fmt.Errorf("there is no field %q", field.Name)
		}
	}
	return all, nil
}

func (f *Field) place() (place, key string) {
	place, key, _ = strings.Cut(f.Name, ".")
	return place, key
}

// goType returns the type of the field, nil if there is none.
func (f *Field) goType() reflect.Type {
	place, key := f.place()
	of := places[place].of
	if of == nil {
		return nil
	}
	for i := range of.NumField() {
		if fields.JSON(of.Field(i)) == key {
			return of.Field(i).Type
		}
	}
	return nil
}

// variant is one value of a field.
type variant struct {
	*Field

	value any
}

func (v variant) String() string { return v.Name + "=" + short(v.value) }

// variants returns the values of the field, null, and the empty value of its type. The last two are omitted if the
// base sets the field.
func (f *Field) variants(base map[string]any) []variant {
	var all []variant
	for _, value := range f.Values {
		all = append(all, variant{f, value})
	}
	if f.in(base) != nil {
		return all
	}
	if !slices.Contains(f.Refused, "null") {
		all = append(all, variant{f, nil})
	}
	if value := f.empty(); value != nil && !slices.Contains(f.Refused, "empty") {
		all = append(all, variant{f, value})
	}
	return all
}

// empty returns the empty value of the field's type, nil if it has none.
func (f *Field) empty() any {
	of := f.goType()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Slice:
		return []any{}
	case reflect.Map, reflect.Struct:
		return map[string]any{}
	case reflect.String:
		return ""
	}
	return nil
}

// other returns a value that differs from that of a variant, or the same one if there is no other.
func (f *Field) other(than int) any { return f.Values[(than+1)%len(f.Values)] }

// tree returns a workload with only a value of the field.
func (f *Field) tree(value any) map[string]any {
	place, key := f.place()
	return places[place].wrap(map[string]any{key: value})
}

// needs returns the fields that the first owner must write for this field.
func (f *Field) needs() map[string]any {
	needed := map[string]any{}
	if f.Beside != nil {
		needed = pod(f.Beside)
	}
	if place, _ := f.place(); place == "init" {
		needed = merged(needed, places["init"].wrap(map[string]any{"image": "registry.example/migrate:1"}))
	}
	return needed
}

// in returns the value of the field in a tree, nil if it is not set.
func (f *Field) in(tree map[string]any) any {
	place, key := f.place()
	for at := places[place].wrap(map[string]any{}); len(at) == 1; {
		for step, below := range at {
			if items, isList := below.([]any); isList {
				tree, at = itemOf(tree[step], items[0]), nil
				break
			}
			tree, _ = tree[step].(map[string]any)
			at, _ = below.(map[string]any)
		}
	}
	return tree[key]
}

// itemOf returns the item of a list that has the same name as named.
func itemOf(list, named any) map[string]any {
	items, _ := list.([]any)
	wanted, _ := named.(map[string]any)
	for _, item := range items {
		if found, _ := item.(map[string]any); found["name"] == wanted["name"] {
			return found
		}
	}
	return nil
}

// excludes reports whether the field cannot be combined with one of others.
func (f *Field) excludes(others []*Field) bool {
	return slices.ContainsFunc(others, func(other *Field) bool {
		return slices.Contains(f.Without, other.Name) || slices.Contains(other.Without, f.Name) ||
			shares(f.Beside, other) || shares(other.Beside, f) || f.avoids(other.Beside) || other.avoids(f.Beside)
	})
}

// avoids reports whether the field cannot be combined with a field that another one requires.
func (f *Field) avoids(beside map[string]any) bool {
	return slices.ContainsFunc(f.Without, func(name string) bool { return shares(beside, &Field{Name: name}) })
}

// shares reports whether what one field needs is in another.
func shares(beside map[string]any, field *Field) bool {
	place, key := field.place()
	_, needed := beside[key]
	return needed && place == "pod"
}

// short returns a short text of a value.
func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > 60 {
		return string(text[:57]) + "..."
	}
	return string(text)
}
