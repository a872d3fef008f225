// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Tell is an environment variable to inject into application containers.
type Tell struct {
	// Containers are the application containers that get the variable. AllContainers stands for all of them.
	Containers []string `json:"containers"`
	Name       string   `json:"name"`
	// Value is the value of the variable. In it, {kind}, {name} and {namespace} stand for the fields of the
	// workload.
	Value string `json:"value"`
}

// AllContainers stands for all containers of the application.
const AllContainers = "*"

// For returns the value for a workload. The chart's MutatingAdmissionPolicies compute the same value.
func (t *Tell) For(of Ref) string {
	return strings.NewReplacer("{kind}", strings.ToLower(of.Kind), "{name}", of.Name, "{namespace}", of.Namespace).Replace(t.Value)
}

// Is reports whether an injected variable matches this variable for the workload in its current form.
func (t *Tell) Is(told Told, in Ref) bool {
	isIn := slices.Contains(t.Containers, told.Container) || slices.Contains(t.Containers, AllContainers)
	return isIn && t.Name == told.Name && t.For(in) == told.Value
}

// Told is an environment variable that was injected into an application container.
type Told struct{ Container, Name, Value string }

// String returns the line for the variable in the record of the pod template.
func (t Told) String() string { return t.Container + " " + t.Name + "=" + t.Value }

// mostTold and recordedBeside are the limits in the policies of the API server: the maximum size of a record in
// bytes, and the bytes per variable in addition to its name and value.
const mostTold, recordedBeside = 32768, 70

// IsTooMuch reports whether the variables would not fit into the record of a workload with a number of
// containers, so that they are not injected.
func IsTooMuch(tells []Tell, in Ref, containers int) bool {
	size := 0
	for i := range tells {
		size += len(tells[i].Name) + len(tells[i].For(in)) + recordedBeside
	}
	return size*containers >= mostTold
}

// ToldText returns the record of injected variables.
func ToldText(all []Told) string {
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = all[i].String()
	}
	return strings.Join(lines, "\n")
}

// readTold reads a record, without lines that policies do not write.
func readTold(text string) []Told {
	var all []Told
	for line := range strings.SplitSeq(text, "\n") {
		container, variable, isOne := strings.Cut(line, " ")
		name, value, isSet := strings.Cut(variable, "=")
		if isOne && isSet && container != "" && name != "" && !strings.Contains(line, ownName) {
			all = append(all, Told{Container: container, Name: name, Value: value})
		}
	}
	return all
}

// toldIn returns the variables in the records of a pod template that still exist, by the keys of these
// annotations. A variable that was changed since, or that is in a manifest of a deployment tool, belongs to the
// application. The result is nil without a record.
func toldIn(template *corev1.PodTemplateSpec, entries []metav1.ManagedFieldsEntry) map[string][]Told {
	var found map[string][]Told
	for key, text := range template.Annotations {
		if !meta.IsInjectedEnv(key) {
			continue
		}
		if found == nil {
			found = map[string][]Told{}
		}
		found[key] = slices.DeleteFunc(readTold(text), func(t Told) bool {
			return !t.isIn(template.Spec.Containers) || isDeployed(entries, t)
		})
	}
	return found
}

// isIn reports whether a container has the variable exactly once and with the injected value.
func (t *Told) isIn(containers []corev1.Container) bool {
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == t.Container })
	if at < 0 {
		return false
	}
	count, isSame := 0, false
	for i := range containers[at].Env {
		if of := &containers[at].Env[i]; of.Name == t.Name {
			count++
			isSame = of.ValueFrom == nil && of.Value == t.Value
		}
	}
	return count == 1 && isSame
}

// isDeployed reports whether a deployment tool owns a variable.
func isDeployed(entries []metav1.ManagedFieldsEntry, told Told) bool {
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		if !isDeployer(&entry) || !strings.Contains(entry.FieldsV1.GetRawString(), told.Name) {
			return false
		}
		fields, _ := decodeFields(&entry)
		for key, container := range tree.Map(podOf(fields)["f:containers"]) {
			if name, _ := nameIn(key); name != told.Container {
				continue
			}
			for variable := range tree.MapAt(tree.Map(container), "f:env") {
				if name, _ := nameIn(variable); name == told.Name {
					return true
				}
			}
		}
		return false
	})
}

// ToldOf returns the existing variables that a manager's sidecar injected into application containers, and
// whether the pod template has a record of them.
func (v *View) ToldOf(manager string) (told []Told, isRecorded bool) {
	if v.Told == nil {
		return nil, false
	}
	told, isRecorded = v.Told[meta.AnnotationInjectedEnv(manager)]
	return told, isRecorded
}

// packTold adds records to the annotations of a packed pod template, without the name of the workload, so that
// workloads that differ only in their names share one.
func packTold(into map[string]string, told map[string][]Told, name string) {
	for key, all := range told {
		into[key] = strings.ReplaceAll(ToldText(all), name, ownName)
	}
}

// unpackedTold reverses packTold.
func unpackedTold(packed map[string]string, name string) map[string][]Told {
	var found map[string][]Told
	for key, text := range packed {
		if !meta.IsInjectedEnv(key) {
			continue
		}
		if found == nil {
			found = map[string][]Told{}
		}
		found[key] = readTold(strings.ReplaceAll(text, ownName, name))
	}
	return found
}
