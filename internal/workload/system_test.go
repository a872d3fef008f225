// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Several fields of a pod may schedule it to Windows nodes. The packed form of the pod gives the same result.
func TestSystemFields_FindFieldsForWindows(t *testing.T) {
	t.Parallel()
	const (
		bySelector = "spec.nodeSelector"
		byAffinity = "spec.affinity.nodeAffinity"
		byOptions  = "spec.securityContext.windowsOptions"
	)
	terms := func(terms string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
	}
	preferred := func(expression string) string {
		return "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [" + expression + "]}}]}}"
	}
	const options = "\nsecurityContext: {windowsOptions: {runAsUserName: ContainerUser}}"
	for name, test := range map[string]struct{ pod, want string }{
		"nothing":                        {"{}", ""},
		"os.name":                        {"os: {name: windows}", "spec.os.name"},
		"os.name linux":                  {"os: {name: linux}" + options, ""},
		"os.name against a selector":     {"os: {name: windows}\nnodeSelector: {kubernetes.io/os: linux}", "spec.os.name"},
		"selector":                       {"nodeSelector: {kubernetes.io/os: windows, disk: ssd}", bySelector},
		"selector, label of before 1.14": {"nodeSelector: {beta.kubernetes.io/os: windows}", bySelector},
		"selector, build of Windows":     {"nodeSelector: {node.kubernetes.io/windows-build: 10.0.20348}", bySelector},
		"selector linux":                 {"nodeSelector: {kubernetes.io/os: linux}", ""},
		"selector of something else":     {"nodeSelector: {pool: windows}", ""},
		"affinity In":                    {terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}"), byAffinity},
		"affinity In linux, windows":     {terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux, windows]}]}"), ""},
		"affinity NotIn linux":           {terms("{matchExpressions: [{key: kubernetes.io/os, operator: NotIn, values: [linux]}]}"), byAffinity},
		"affinity NotIn windows":         {terms("{matchExpressions: [{key: kubernetes.io/os, operator: NotIn, values: [windows]}]}"), ""},
		"affinity Exists":                {terms("{matchExpressions: [{key: kubernetes.io/os, operator: Exists}]}"), ""},
		"affinity DoesNotExist":          {terms("{matchExpressions: [{key: kubernetes.io/os, operator: DoesNotExist}]}"), ""},
		"affinity, build of Windows":     {terms("{matchExpressions: [{key: node.kubernetes.io/windows-build, operator: Exists}]}"), byAffinity},
		"affinity, no build of Windows":  {terms("{matchExpressions: [{key: node.kubernetes.io/windows-build, operator: DoesNotExist}]}"), ""},
		"affinity, one more expression": {
			terms("{matchExpressions: [{key: zone, operator: In, values: [a]}, {key: kubernetes.io/os, operator: In, values: [windows]}]}"), byAffinity,
		},
		"affinity, two terms": {
			terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}, {matchExpressions: [{key: beta.kubernetes.io/os, operator: In, values: [windows]}]}"), byAffinity,
		},
		"affinity, a term of any system": {
			terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}, {matchExpressions: [{key: zone, operator: In, values: [a]}]}"), "",
		},
		"affinity, a term of any system first": {
			terms("{matchExpressions: [{key: zone, operator: In, values: [a]}]}, {matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}"), "",
		},
		"affinity, a term that matches no node": {terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}, {}"), byAffinity},
		"affinity, a node by its name":          {terms("{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}"), ""},
		"affinity that is preferred":            {preferred("{key: kubernetes.io/os, operator: In, values: [windows]}"), ""},
		"selector and affinity exclude all":     {"nodeSelector: {kubernetes.io/os: linux}\n" + terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}"), ""},
		"options":                               {options, byOptions},
		"options without content":               {"securityContext: {windowsOptions: {}}", ""},
		"options of a container":                {"containers: [{name: a}, {name: b, securityContext: {windowsOptions: {hostProcess: true}}}]", "spec.containers[1].securityContext.windowsOptions"},
		"options of an init container":          {"initContainers: [{name: a, securityContext: {windowsOptions: {runAsUserName: a}}}]", "spec.initContainers[0].securityContext.windowsOptions"},
		"options of a sidecar":                  {"containers: [{name: a}, {name: vector, securityContext: {windowsOptions: {runAsUserName: a}}}]", ""},
		"options, selector windows":             {"nodeSelector: {kubernetes.io/os: windows}" + options, bySelector},
		"options, selector linux":               {"nodeSelector: {kubernetes.io/os: linux}" + options, ""},
		"options, selector of something else":   {"nodeSelector: {pool: a}" + options, byOptions},
		"options, affinity of two systems":      {terms("{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux, windows]}]}") + options, ""},
		"options, affinity NotIn windows":       {terms("{matchExpressions: [{key: kubernetes.io/os, operator: NotIn, values: [windows]}]}") + options, ""},
		"options, affinity prefers linux":       {preferred("{key: kubernetes.io/os, operator: In, values: [linux]}") + options, ""},
		"options, affinity prefers windows":     {preferred("{key: kubernetes.io/os, operator: In, values: [windows]}") + options, byOptions},
		"a RuntimeClass is not read":            {"runtimeClassName: windows-2022", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := corev1.PodTemplateSpec{}
			require.NoError(t, yaml.UnmarshalStrict([]byte(test.pod), &template.Spec))
			owned := map[string]OwnedFields{"vectorsidecar/logs": {Containers: []string{"vector"}}}

			view := viewWith(template, owned)
			require.Equal(t, test.want, view.Windows)
		})
	}
}

// A field that pods of any operating system may have does not make the system unknown.
func TestReadSystemFields_IgnoresFieldsOfAnySystem(t *testing.T) {
	t.Parallel()
	pod := &corev1.PodSpec{
		NodeSelector:    map[string]string{corev1.LabelOSStable: "linux"},
		SecurityContext: &corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{RunAsUserName: new("a")}},
	}
	require.Equal(t, SystemFields{Options: "spec.securityContext.windowsOptions", OtherSystem: "spec.nodeSelector"}, ReadSystemFields(pod, nil))
}
