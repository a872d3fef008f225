// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// kinds are the kinds of workloads that get sidecars. To add one is a row here and a file
// beside deployment.go.
var kinds = []*Kind{&deployments}

// Kinds are the kinds of workloads that get sidecars.
func Kinds() []*Kind { return kinds }

// Ref names one workload, and by its UID not one that took its name later.
type Ref struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Read returns the content of a workload, and false for an object of none of the Kinds.
func Read(object any) (Content, bool) {
	for _, kind := range kinds {
		if content, isOne := kind.read(object); isOne {
			content.Kind = kind
			return content, true
		}
	}
	return Content{}, false
}

// contentOf is Read for those who have a workload.
func contentOf(object Object) Content {
	content, isOne := Read(object)
	if !isOne {
		panic(fmt.Sprintf("a %T is no workload", object))
	}
	return content
}

// As returns an object as a workload, and false if it is of none of the Kinds.
func As(object any) (Object, bool) {
	if _, isOne := Read(object); !isOne {
		return nil, false
	}
	workload, isOne := object.(Object)
	return workload, isOne
}

// TemplateOf returns the pod template of a workload, not a copy.
func TemplateOf(object Object) *corev1.PodTemplateSpec { return contentOf(object).Template }

// RefOf returns the name of a workload.
func RefOf(object Object) Ref {
	return Ref{Kind: contentOf(object).Kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
}

// Finish gives a workload of a file the status of one that has rolled out: nothing says
// that it is at it.
func Finish(object Object) { contentOf(object).Kind.finish(object) }

// KindNamed returns the kind of a name as kubectl takes it, such as deploy or
// deployments.apps, and nil for none.
func KindNamed(name string) *Kind {
	name = strings.ToLower(name)
	for _, kind := range kinds {
		bare := strings.TrimSuffix(name, "."+kind.Group)
		if bare == strings.ToLower(kind.Kind) || bare == kind.Resource || slices.Contains(kind.Short, name) {
			return kind
		}
	}
	return nil
}

// Default returns the kind of workloads that is meant where none is named.
func Default() *Kind { return kinds[0] }

// Singular names a workload of one of the Kinds in messages.
func Singular() string {
	if len(kinds) > 1 {
		return "workload"
	}
	return kinds[0].Kind
}

// Plural names workloads of the Kinds in messages.
func Plural() string {
	if len(kinds) > 1 {
		return "workloads"
	}
	return kinds[0].Plural
}

// KindOf returns the kind of a name as manifests have it, and nil for none.
func KindOf(name string) *Kind {
	for _, kind := range kinds {
		if kind.Kind == name {
			return kind
		}
	}
	return nil
}

// KindOfList returns the kind that a list is of, and nil for none.
func KindOfList(list any) *Kind {
	for _, kind := range kinds {
		if reflect.TypeOf(kind.NewList()) == reflect.TypeOf(list) {
			return kind
		}
	}
	return nil
}

// Adapter returns the kind of the workload that is named.
func (r *Ref) Adapter() *Kind { return cmp.Or(KindOf(r.Kind), Default()) }

// Items returns the workloads of a list, not copies.
func Items(list List) []Object {
	var items []Object
	_ = apimeta.EachListItem(list, func(item runtime.Object) error { // It fails where the function does.
		if object, isOne := As(item); isOne {
			items = append(items, object)
		}
		return nil
	})
	return items
}
