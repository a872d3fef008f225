// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"fmt"
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The validity of these container fields depends only on the needs that an overlay lists, not on other fields of the
// pod. Other fields, such as resizePolicy or stopSignal, are valid in some pods and invalid in others. The same may be
// true for fields of later Kubernetes versions.
var (
	containerFields = []string{
		"name", "image", "imagePullPolicy", "restartPolicy", "command", "args", "workingDir", "env", "envFrom", "ports",
		"livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "securityContext", "volumeMounts",
		"terminationMessagePath", "terminationMessagePolicy", "stdin", "stdinOnce", "tty",
	}
	securityFields = []string{
		"allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot",
		"runAsUser", "seccompProfile", "seLinuxOptions",
	}
	fieldsBelow = map[string][]string{
		"lifecycle":       {"preStop", "postStart"},
		"resources":       {"limits", "requests"},
		"securityContext": securityFields,
	}
	valueFields = []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"}
	portFields  = []string{"containerPort", "name", "protocol"}
)

// mostAnnotations is the maximum size of the annotations of an overlay's pods in bytes. The total size of a pod's
// annotations is limited, and the policies check only for this much space.
const mostAnnotations = 4 << 10

// incompatibility explains why only the operator may inject an overlay, or returns "" if the API server may inject it. If the
// API server accepts the overlay in one pod, it must accept the overlay in every pod that meets the conditions.
func incompatibility(overlay *workload.Overlay) string {
	if len(overlay.Mounts) > 0 {
		return "the sidecar mounts a volume into the application's containers (sidecar.logs.containers)"
	}
	if len(overlay.Template.Spec.ImagePullSecrets) > 0 {
		return "the sidecar has a pull secret (sidecar.imagePullSecrets), and the pull secrets of the ServiceAccount are unknown"
	}
	metadata := tree.MapAt(overlay.Body, "metadata")
	if len(tree.Map(metadata["labels"])) > 0 {
		return "the templates set labels of the pods"
	}
	length := 0
	for key, value := range podAnnotations(&overlay.Template) {
		length += len(key) + len(value)
	}
	if length > mostAnnotations {
		return fmt.Sprintf("the pod annotations of the sidecar have more than %d bytes", mostAnnotations)
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(tree.MapAt(overlay.Body, "spec")[list]) {
			if field := describeUncertain(tree.Map(item)); field != "" {
				return fmt.Sprintf("container %q sets %s, which depends on the pod", tree.Name(item), field)
			}
		}
	}
	return ""
}

// describeUncertain returns a message about a container field that is not valid in every pod, or "" for none.
func describeUncertain(container map[string]any) string {
	if field := unlistedField(container, containerFields); field != "" {
		return field
	}
	for field, allowed := range fieldsBelow {
		if subfield := unlistedField(tree.MapAt(container, field), allowed); subfield != "" {
			return field + "." + subfield
		}
	}
	for _, item := range tree.List(container["env"]) {
		if subfield := unlistedField(tree.MapAt(tree.Map(item), "valueFrom"), valueFields); subfield != "" {
			return "env.valueFrom." + subfield
		}
	}
	for _, item := range tree.List(container["ports"]) {
		if subfield := unlistedField(tree.Map(item), portFields); subfield != "" {
			return "ports." + subfield
		}
	}
	return ""
}

// unlistedField returns the first key of an object, by name, that is not in the allowed list, or "" for none.
func unlistedField(object map[string]any, allowed []string) string {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(allowed, key) {
			return key
		}
	}
	return ""
}
