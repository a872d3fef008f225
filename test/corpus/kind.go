// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Kind is a kind of workloads. All are generated in the form of a Deployment, with their
// pod template at spec.template.
type Kind struct {
	Name, APIVersion string
	// places are the first words of the names of the fields that are its own.
	places []string
	// base is what the first owner has to say besides, and left are the keys of a
	// Deployment's spec that it has not.
	base map[string]any
	left []string
	// job says that the template is that of a Job, at spec.jobTemplate.spec.template.
	job bool
}

// Kinds are those that sidecars are written to.
func Kinds() []*Kind {
	return []*Kind{
		{Name: "Deployment", APIVersion: "apps/v1", places: []string{"deployment"}},
		{Name: "StatefulSet", APIVersion: "apps/v1", places: []string{"statefulset"}},
		{Name: "DaemonSet", APIVersion: "apps/v1", places: []string{"daemonset"}, left: []string{"replicas"}},
		{
			Name: "CronJob", APIVersion: "batch/v1", places: []string{"cronjob", "job"}, left: []string{"replicas", "selector"}, job: true,
			base: merged(pod(map[string]any{"restartPolicy": "Never"}), map[string]any{"spec": map[string]any{"schedule": "0 0 1 1 *"}}),
		},
	}
}

// Fields are the fields that a workload of the kind can have.
func (k *Kind) Fields() ([]*Field, error) {
	all, err := Fields()
	return slices.DeleteFunc(all, func(f *Field) bool {
		place, _ := f.place()
		isOther := len(f.Kinds) > 0 && !slices.Contains(f.Kinds, k.Name)
		return isOther || places[place].isOfKind && !slices.Contains(k.places, place)
	}), err
}

// Base is a base of workloads with what the kind has to say.
func (k *Kind) Base(of map[string]any) map[string]any {
	based := merged(of, k.base)
	spec, _ := based["spec"].(map[string]any)
	for _, key := range k.left {
		delete(spec, key)
	}
	return based
}

// Placed returns what is in the form of a Deployment as the kind has it.
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
