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

// These are the fields of containers whose validity depends on nothing else in the pod but what
// an overlay says that it needs. Others, such as resizePolicy or stopSignal, are valid in some pods
// and not in others, and so is what a later version of Kubernetes adds.
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

// mostAnnotations bounds the annotations of an overlay's pods, in bytes: there is a limit to what
// those of a pod have together, and the policies make sure of some room only.
const mostAnnotations = 4 << 10

// objection says why an overlay is left to the operator, "" if nothing speaks against it: what
// the API server accepts in one pod it must accept in every pod that its conditions let through.
func objection(overlay *workload.Overlay) string {
	if len(overlay.Mounts) > 0 {
		return "the sidecar mounts a volume into the application's containers (sidecar.logs.containers)"
	}
	if len(overlay.Template.Spec.ImagePullSecrets) > 0 {
		return "the sidecar has a pull secret (sidecar.imagePullSecrets), and the pull secrets of the ServiceAccount are not known"
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
		return fmt.Sprintf("the annotations of its pods have more than %d bytes together", mostAnnotations)
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(tree.MapAt(overlay.Body, "spec")[list]) {
			if field := unsure(tree.Map(item)); field != "" {
				return fmt.Sprintf("container %q has %s, which not every pod may have", tree.Name(item), field)
			}
		}
	}
	return ""
}

// unsure returns a field of a container that not every pod may have, "" if there is none.
func unsure(container map[string]any) string {
	if field := other(container, containerFields); field != "" {
		return field
	}
	for field, allowed := range fieldsBelow {
		if subfield := other(tree.MapAt(container, field), allowed); subfield != "" {
			return field + "." + subfield
		}
	}
	for _, item := range tree.List(container["env"]) {
		if subfield := other(tree.MapAt(tree.Map(item), "valueFrom"), valueFields); subfield != "" {
			return "env.valueFrom." + subfield
		}
	}
	for _, item := range tree.List(container["ports"]) {
		if subfield := other(tree.Map(item), portFields); subfield != "" {
			return "ports." + subfield
		}
	}
	return ""
}

// other returns a key that is not among those known, the first by name.
func other(object map[string]any, allowed []string) string {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(allowed, key) {
			return key
		}
	}
	return ""
}
