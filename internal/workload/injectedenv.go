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

// EnvInjection is an environment variable that the API server injects into application containers.
type EnvInjection struct {
	// Containers are the application containers that get the variable. AllContainers stands for all of them.
	Containers []string `json:"containers"`
	Name       string   `json:"name"`
	// Value is the value of the variable. The placeholders {kind}, {name} and {namespace} in it stand for the
	// fields of the workload.
	Value string `json:"value"`
}

// AllContainers is an entry of EnvInjection.Containers that stands for all containers of the application.
const AllContainers = "*"

// ValueFor returns the variable's value for a workload. The chart's MutatingAdmissionPolicies compute the same value,
// so both must stay equal.
func (t *EnvInjection) ValueFor(ref Ref) string {
	return strings.NewReplacer("{kind}", strings.ToLower(ref.Kind), "{name}", ref.Name, "{namespace}", ref.Namespace).Replace(t.Value)
}

// Matches reports whether an injected variable has the container, the name and the value of this injection.
func (t *EnvInjection) Matches(injected InjectedEnv, ref Ref) bool {
	isIn := slices.Contains(t.Containers, injected.Container) || slices.Contains(t.Containers, AllContainers)
	return isIn && t.Name == injected.Name && t.ValueFor(ref) == injected.Value
}

// InjectedEnv is an environment variable that the API server has injected into an application container.
type InjectedEnv struct{ Container, Name, Value string }

// String returns the line that records the variable in the pod template.
func (t InjectedEnv) String() string { return t.Container + " " + t.Name + "=" + t.Value }

// maxEnvRecordBytes is the maximum size of the record of injected variables in bytes. envRecordOverhead is the
// number of bytes per variable in addition to its name and value. The API server's policies have the same
// limits.
const maxEnvRecordBytes, envRecordOverhead = 32768, 70

// ExceedsRecordLimit reports whether the record of the variables would be too large for a workload with a
// number of containers. The policies do not inject such variables.
func ExceedsRecordLimit(injections []EnvInjection, ref Ref, containers int) bool {
	size := 0
	for i := range injections {
		size += len(injections[i].Name) + len(injections[i].ValueFor(ref)) + envRecordOverhead
	}
	return size*containers >= maxEnvRecordBytes
}

// FormatInjectedEnv returns the record of injected variables, with one line for each variable.
func FormatInjectedEnv(variables []InjectedEnv) string {
	lines := make([]string, len(variables))
	for i := range variables {
		lines[i] = variables[i].String()
	}
	return strings.Join(lines, "\n")
}

// parseInjectedEnv returns the variables in a record. It ignores lines in a format that the policies do not
// write.
func parseInjectedEnv(text string) []InjectedEnv {
	var variables []InjectedEnv
	for line := range strings.SplitSeq(text, "\n") {
		container, variable, ok := strings.Cut(line, " ")
		name, value, isSet := strings.Cut(variable, "=")
		if ok && isSet && container != "" && name != "" {
			variables = append(variables, InjectedEnv{Container: container, Name: name, Value: value})
		}
	}
	return variables
}

// EnvRecord contains the recorded environment variables of one sidecar that still exist in the application.
type EnvRecord struct {
	// Key is the annotation key of the record.
	Key       string
	Variables []InjectedEnv
}

// findInjectedEnv returns the records of injected variables in a pod template, sorted by key. A variable belongs to the
// application, and is left out, if its value differs from the record or if it is in the manifest of a deployment tool.
func findInjectedEnv(template *corev1.PodTemplateSpec, entries []metav1.ManagedFieldsEntry) []EnvRecord {
	var records []EnvRecord
	for key, text := range template.Annotations {
		if meta.IsInjectedEnv(key) {
			records = append(records, EnvRecord{key, slices.DeleteFunc(parseInjectedEnv(text), func(t InjectedEnv) bool {
				return !t.isIn(template.Spec.Containers) || isDeployed(entries, t)
			})})
		}
	}
	slices.SortFunc(records, func(a, b EnvRecord) int { return strings.Compare(a.Key, b.Key) })
	return records
}

// isIn reports whether a container has the variable exactly once and with the recorded value.
func (t *InjectedEnv) isIn(containers []corev1.Container) bool {
	pos := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == t.Container })
	if pos < 0 {
		return false
	}
	count, isSame := 0, false
	for i := range containers[pos].Env {
		if env := &containers[pos].Env[i]; env.Name == t.Name {
			count++
			isSame = env.ValueFrom == nil && env.Value == t.Value
		}
	}
	return count == 1 && isSame
}

// isDeployed reports whether a deployment tool owns an environment variable of a container.
func isDeployed(entries []metav1.ManagedFieldsEntry, injected InjectedEnv) bool {
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		if !isDeployer(&entry) || !strings.Contains(entry.FieldsV1.GetRawString(), injected.Name) {
			return false
		}
		fields, _ := decodeFields(&entry)
		for key, container := range tree.Map(podFields(fields)["f:containers"]) {
			if name, _ := itemName(key); name != injected.Container {
				continue
			}
			for variable := range tree.MapAt(tree.Map(container), "f:env") {
				if name, _ := itemName(variable); name == injected.Name {
					return true
				}
			}
		}
		return false
	})
}

// InjectedEnvFor returns the existing variables that the API server has injected for a manager's sidecar. isRecorded
// reports whether the pod template has a record of such variables.
func (v *View) InjectedEnvFor(manager string) (variables []InjectedEnv, isRecorded bool) {
	for _, record := range v.InjectedEnv {
		if record.Key == meta.AnnotationInjectedEnv(manager) {
			return record.Variables, true
		}
	}
	return nil, false
}
