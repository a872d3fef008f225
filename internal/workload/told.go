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

// Tell is a variable by which the application is to be told of the sidecar.
type Tell struct {
	// Containers are the application's that get it; AllContainers is all of them.
	Containers []string `json:"containers"`
	Name       string   `json:"name"`
	// Value is its value, in which {kind}, {name} and {namespace} stand for the workload's.
	Value string `json:"value"`
}

// AllContainers stands for all containers of the application.
const AllContainers = "*"

// For returns the value in a workload. The chart's MutatingAdmissionPolicies do the same.
func (t *Tell) For(of Ref) string {
	return strings.NewReplacer("{kind}", strings.ToLower(of.Kind), "{name}", of.Name, "{namespace}", of.Namespace).Replace(t.Value)
}

// Is reports whether a workload was told this, as it is now.
func (t *Tell) Is(told Told, in Ref) bool {
	isIn := slices.Contains(t.Containers, told.Container) || slices.Contains(t.Containers, AllContainers)
	return isIn && t.Name == told.Name && t.For(in) == told.Value
}

// Told is a variable by which a container of the application was told of a sidecar.
type Told struct{ Container, Name, Value string }

// String is a line of the record that the pod template has of what was told.
func (t Told) String() string { return t.Container + " " + t.Name + "=" + t.Value }

// mostTold and recordedBeside are what the policies of the API server go by: how large a record may
// be in bytes, and how much of it is for a variable besides its name and value.
const mostTold, recordedBeside = 32768, 70

// IsTooMuch reports whether these would not fit into the record of a workload with so many
// containers, and so are told to nobody.
func IsTooMuch(tells []Tell, in Ref, containers int) bool {
	size := 0
	for i := range tells {
		size += len(tells[i].Name) + len(tells[i].For(in)) + recordedBeside
	}
	return size*containers >= mostTold
}

// ToldText is the record of what was told.
func ToldText(all []Told) string {
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = all[i].String()
	}
	return strings.Join(lines, "\n")
}

// readTold reads a record, without lines that no policy writes.
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

// toldIn returns what is there of what the records of a pod template list, by the keys of these
// annotations: a variable that somebody has changed since, or that a deployer's manifest has, is
// theirs. It is nil if there is no record.
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

// isIn reports whether a container has the variable as it was told, once.
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

// isDeployed reports whether a deployer owns a variable.
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
			for variable := range tree.At(tree.Map(container), "f:env") {
				if name, _ := nameIn(variable); name == told.Name {
					return true
				}
			}
		}
		return false
	})
}

// ToldOf returns what the application was told of a manager's sidecar and still has, and whether
// the pod template has a record of it.
func (v *View) ToldOf(manager string) (told []Told, isRecorded bool) {
	if v.Told == nil {
		return nil, false
	}
	told, isRecorded = v.Told[meta.AnnotationInjectedEnv(manager)]
	return told, isRecorded
}

// packTold adds records to the annotations of a packed pod template, without the name of the
// workload, so that those that differ in nothing else share one.
func packTold(into map[string]string, told map[string][]Told, name string) {
	for key, all := range told {
		into[key] = strings.ReplaceAll(ToldText(all), name, ownName)
	}
}

// unpackedTold is the inverse of packTold.
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
