// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// SystemFields contains the paths of the pod's fields that depend on the operating system of its nodes. A path
// is "" if the pod does not have such a field. The operator does not read the node selector of a RuntimeClass.
type SystemFields struct {
	// Windows is the path of the field that restricts the pod to Windows nodes.
	Windows string
	// Options is the path of windowsOptions, which Linux nodes ignore.
	Options string
	// OtherSystem is the path of a field that names an operating system other than Windows.
	OtherSystem string
}

// ReadSystemFields returns the system fields of a pod without the fields of the operator's managers. A pod with
// windowsOptions counts as a Windows pod only if no field names another system.
func ReadSystemFields(pod *corev1.PodSpec, owned map[string]OwnedFields) SystemFields {
	fields := SystemFields{Options: optionsPath(pod, owned), OtherSystem: otherSystemPath(pod)}
	const selector, affinity = "spec.nodeSelector", "spec.affinity.nodeAffinity"
	switch bySelector, byAffinity := selectableSystems(pod.NodeSelector), schedulableSystems(requiredTerms(pod)); {
	case pod.OS != nil && pod.OS.Name == corev1.Windows:
		fields.Windows = "spec.os.name"
	case pod.OS != nil && pod.OS.Name != "": // The kubelet of a Windows node rejects the pod.
	case bySelector == onWindows && byAffinity&onWindows != 0:
		fields.Windows = selector
	case byAffinity == onWindows && bySelector&onWindows != 0:
		fields.Windows = affinity
	case fields.OtherSystem == "":
		fields.Windows = fields.Options
	}
	return fields
}

// systems is a set of operating systems of nodes.
type systems int

const (
	onLinux systems = 1 << iota
	onWindows

	anySystem = onLinux | onWindows
)

// systemLabels are the labels of nodes with the name of the operating system. The kubelet sets both.
var systemLabels = []string{corev1.LabelOSStable, "beta.kubernetes.io/os"}

// selectableSystems returns the operating systems of the nodes that a node selector may match.
func selectableSystems(selector map[string]string) systems {
	allowed := anySystem
	for key, value := range selector {
		allowed &= matchingSystems(&corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	return allowed
}

// schedulableSystems returns the operating systems of the nodes that at least one of the terms may match. Without terms,
// it returns all systems.
func schedulableSystems(terms []corev1.NodeSelectorTerm) systems {
	if len(terms) == 0 {
		return anySystem
	}
	allowed := systems(0)
	for i := range terms {
		term := &terms[i]
		if isEmptyTerm(*term) {
			continue
		}
		matched := anySystem
		for j := range term.MatchExpressions {
			matched &= matchingSystems(&term.MatchExpressions[j])
		}
		allowed |= matched
	}
	return allowed
}

// matchingSystems returns the operating systems of the nodes that a required node label may match. All nodes have the
// labels for the system, and only Windows nodes have the label for the Windows build.
func matchingSystems(required *corev1.NodeSelectorRequirement) systems {
	labeled, named := anySystem, anySystem
	switch {
	case slices.Contains(systemLabels, required.Key):
		named = namedSystems(required.Values)
	case required.Key == corev1.LabelWindowsBuild:
		labeled = onWindows
	default:
		return anySystem
	}
	switch required.Operator {
	case corev1.NodeSelectorOpIn:
		return named & labeled
	case corev1.NodeSelectorOpNotIn:
		if labeled == onWindows {
			return anySystem // Another build, or Linux.
		}
		return anySystem &^ named
	case corev1.NodeSelectorOpDoesNotExist:
		return anySystem &^ labeled
	default:
		return labeled
	}
}

// namedSystems returns the operating systems with some names. It ignores systems other than Linux and Windows.
func namedSystems(names []string) systems {
	named := systems(0)
	for _, name := range names {
		switch corev1.OSName(name) {
		case corev1.Linux:
			named |= onLinux
		case corev1.Windows:
			named |= onWindows
		}
	}
	return named
}

// requiredTerms returns the terms of the pod's required node affinity, or nil for none.
func requiredTerms(pod *corev1.PodSpec) []corev1.NodeSelectorTerm {
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil || pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// otherSystemPath returns the path of a field that names an operating system other than Windows, or "" for
// none. The field may also name Windows.
func otherSystemPath(pod *corev1.PodSpec) string {
	if pod.OS != nil && pod.OS.Name != "" && pod.OS.Name != corev1.Windows {
		return "spec.os.name"
	}
	for _, label := range systemLabels {
		if value, ok := pod.NodeSelector[label]; ok && value != string(corev1.Windows) {
			return "spec.nodeSelector"
		}
	}
	terms := slices.Clone(requiredTerms(pod))
	if pod.Affinity != nil && pod.Affinity.NodeAffinity != nil {
		for _, preferred := range pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, preferred.Preference)
		}
	}
	for i := range terms {
		if slices.ContainsFunc(terms[i].MatchExpressions, namesOtherSystem) {
			return "spec.affinity.nodeAffinity"
		}
	}
	return ""
}

// namesOtherSystem reports whether a required label names an operating system other than Windows, or excludes
// Windows.
func namesOtherSystem(required corev1.NodeSelectorRequirement) bool {
	isWindows := func(value string) bool { return value == string(corev1.Windows) }
	switch {
	case required.Key == corev1.LabelWindowsBuild:
		return required.Operator == corev1.NodeSelectorOpDoesNotExist
	case !slices.Contains(systemLabels, required.Key):
		return false
	case required.Operator == corev1.NodeSelectorOpIn:
		return slices.ContainsFunc(required.Values, func(value string) bool { return !isWindows(value) })
	case required.Operator == corev1.NodeSelectorOpNotIn:
		return slices.ContainsFunc(required.Values, isWindows)
	}
	return false
}

// optionsPath returns the path of the first windowsOptions that are not empty, in the pod or in one of the
// application's containers. It returns "" for none.
func optionsPath(pod *corev1.PodSpec, owned map[string]OwnedFields) string {
	hasContent := func(options *corev1.WindowsSecurityContextOptions) bool {
		return options != nil && *options != corev1.WindowsSecurityContextOptions{}
	}
	if pod.SecurityContext != nil && hasContent(pod.SecurityContext.WindowsOptions) {
		return "spec.securityContext.windowsOptions"
	}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", pod.InitContainers}, {"containers", pod.Containers}} {
		for i := range list.containers {
			c := &list.containers[i]
			if c.SecurityContext != nil && hasContent(c.SecurityContext.WindowsOptions) && !anyOwns(owned, ownedContainers, c.Name) {
				return fmt.Sprintf("spec.%s[%d].securityContext.windowsOptions", list.name, i)
			}
		}
	}
	return ""
}
