// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Kind is a kind of workloads. All are generated in the form of a Deployment, with their pod template at
// spec.template.
type Kind struct {
	Name, APIVersion string
	// places are the first words of the names of the fields that only this kind has.
	places []string
	// base are additional required fields of the kind, and left are the keys of a Deployment's spec that the kind
	// does not have.
	base map[string]any
	left []string
	// job reports that the pod template belongs to a Job, at spec.jobTemplate.spec.template.
	job bool
	// custom says that a CustomResourceDefinition defines it: a list of its pods is one value with one
	// owner, tools send merge patches of whole lists, and the definition, which is of a release of its
	// own, does not know every field nor takes null.
	custom bool
}

// Kinds returns the kinds that the operator injects into.
func Kinds() []*Kind {
	return []*Kind{
		{Name: "Deployment", APIVersion: "apps/v1", places: []string{"deployment"}},
		{Name: "StatefulSet", APIVersion: "apps/v1", places: []string{"statefulset"}},
		{Name: "DaemonSet", APIVersion: "apps/v1", places: []string{"daemonset"}, left: []string{"replicas"}},
		{
			Name: "CronJob", APIVersion: "batch/v1", places: []string{"cronjob", "job"}, left: []string{"replicas", "selector"}, job: true,
			base: merged(pod(map[string]any{"restartPolicy": "Never"}), map[string]any{"spec": map[string]any{"schedule": "0 0 1 1 *"}}),
		},
		{
			Name: "Rollout", APIVersion: "argoproj.io/v1alpha1", places: []string{"rollout"}, custom: true,
			base: map[string]any{"spec": map[string]any{"strategy": map[string]any{"canary": map[string]any{}}}},
		},
	}
}

// rolloutSpec has the fields of a Rollout that the corpus uses.
type rolloutSpec struct {
	Replicas                *int32                 `json:"replicas"`
	Selector                *metav1.LabelSelector  `json:"selector"`
	Template                corev1.PodTemplateSpec `json:"template"`
	MinReadySeconds         int32                  `json:"minReadySeconds"`
	RevisionHistoryLimit    *int32                 `json:"revisionHistoryLimit"`
	Paused                  bool                   `json:"paused"`
	ProgressDeadlineSeconds *int32                 `json:"progressDeadlineSeconds"`
	Strategy                map[string]any         `json:"strategy"`
}

// MergesByKey reports whether the API server merges lists in the kind's pods by their keys, as it does in built-in
// kinds.
func (k *Kind) MergesByKey() bool { return !k.custom }

// takes reports whether a second owner can write the kind in a way. If a list has one owner, an apply of the second
// owner would take it from the first.
func (k *Kind) takes(second Way) bool { return !k.custom || second == "" || second == Edit }

// Fields returns the fields that a workload of the kind can have.
func (k *Kind) Fields() ([]*Field, error) {
	all, err := Fields()
	return slices.DeleteFunc(all, func(f *Field) bool {
		place, _ := f.place()
		isOther := len(f.Kinds) > 0 && !slices.Contains(f.Kinds, k.Name)
		return isOther || places[place].isOfKind && !slices.Contains(k.places, place)
	}), err
}

// Base returns a base of workloads with the kind's required fields.
func (k *Kind) Base(of map[string]any) map[string]any {
	based := merged(of, k.base)
	spec, _ := based["spec"].(map[string]any)
	for _, key := range k.left {
		delete(spec, key)
	}
	return based
}

// Placed converts a tree in the form of a Deployment to the form of the kind.
func (k *Kind) Placed(tree map[string]any) map[string]any {
	placed := runtime.DeepCopyJSON(tree)
	placed["apiVersion"], placed["kind"] = k.APIVersion, k.Name
	spec, _ := placed["spec"].(map[string]any)
	template, hasTemplate := spec["template"]
	if !k.job || !hasTemplate {
		return placed
	}
	delete(spec, "template")
	placed["spec"] = merged(spec, map[string]any{"jobTemplate": map[string]any{"spec": map[string]any{"template": template}}})
	return placed
}
