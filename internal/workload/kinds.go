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

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// kinds lists the kinds of workloads that can have sidecars. A new kind needs a row here, a file like
// deployment.go, and a value of v1alpha1.WorkloadKind.
var kinds = []*Kind{&deployments, &statefulSets, &daemonSets, &cronJobs, &jobs, &argoRollouts}

// Kinds returns the kinds of workloads that can have sidecars.
func Kinds() []*Kind { return kinds }

// Ref identifies one workload. The UID distinguishes it from a later workload of the same name.
type Ref struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Read returns the content of a workload, and false for other objects.
func Read(object any) (Content, bool) {
	for _, kind := range kinds {
		if content, isOne := kind.read(object); isOne {
			content.Kind = kind
			return content, true
		}
	}
	return Content{}, false
}

// objectKind returns the kind of an object, or nil if it is not a workload. It does not decode the object.
func objectKind(object any) *Kind {
	if isUnstructured(object, argoRolloutKind) {
		return &argoRollouts
	}
	content, _ := Read(object)
	return content.Kind
}

// readContent returns the content of an Object, as Read does.
func readContent(object Object) Content {
	content, isOne := Read(object)
	if !isOne {
		panic(fmt.Sprintf("%T is not a workload", object))
	}
	return content
}

// ToObject returns an object as a workload, and false if the object is not a workload.
func ToObject(object any) (Object, bool) {
	if objectKind(object) == nil {
		return nil, false
	}
	workload, isOne := object.(Object)
	return workload, isOne
}

// PodTemplate returns the pod template of a workload. It is not a copy.
func PodTemplate(object Object) *corev1.PodTemplateSpec { return readContent(object).Template }

// HasOptionalAPI reports whether a cluster may lack the API of a workload's kind.
func HasOptionalAPI(object Object) bool { return objectKind(object).Traits.OptionalAPI }

// NewRef returns the identity of a workload.
func NewRef(object Object) Ref {
	return Ref{Kind: objectKind(object).Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
}

// Finish sets the status of a finished rollout on a workload that was read from a file, because a file does not
// contain a rollout.
func Finish(object Object) { objectKind(object).finish(object) }

// KindNamed returns the kind for a name that kubectl accepts, such as deploy or deployments.apps, or nil for
// none.
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

// Default returns the kind that is used if none is named.
func Default() *Kind { return kinds[0] }

// Singular returns the name of a workload of some kinds in messages.
func Singular(kinds ...v1alpha1.WorkloadKind) string {
	if len(kinds) == 1 {
		return string(kinds[0])
	}
	return "workload"
}

// Plural returns the name of several workloads of some kinds in messages.
func Plural(kinds ...v1alpha1.WorkloadKind) string { return Singular(kinds...) + "s" }

// KindByName returns the kind for a name in manifests, or nil for none.
func KindByName(name string) *Kind {
	for _, kind := range kinds {
		if kind.Kind == name {
			return kind
		}
	}
	return nil
}

// KindForList returns the item kind of a list, or nil if it is not in Kinds.
func KindForList(list runtime.Object) *Kind {
	for _, kind := range kinds {
		empty := kind.NewList()
		if reflect.TypeOf(empty) != reflect.TypeOf(list) {
			continue
		}
		if _, isUnstructured := empty.(runtime.Unstructured); !isUnstructured || empty.GetObjectKind().GroupVersionKind() == list.GetObjectKind().GroupVersionKind() {
			return kind
		}
	}
	return nil
}

// Adapter returns the Kind of the workload.
func (r *Ref) Adapter() *Kind { return cmp.Or(KindByName(r.Kind), Default()) }

// Items returns the workloads of a list. They are not copies.
func Items(list List) []Object {
	var items []Object
	_ = apimeta.EachListItem(list, func(item runtime.Object) error { // EachListItem fails only if the function fails.
		if object, isOne := ToObject(item); isOne {
			items = append(items, object)
		}
		return nil
	})
	return items
}
