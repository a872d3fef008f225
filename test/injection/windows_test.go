// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The API server does not inject the sidecar if a field of the pod may require Windows nodes.
func TestOverlaySet_SkipsWindows(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	matched := func(name string, change func(*corev1.PodSpec)) *objects.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector").Pod(change)
	}
	selecting := func(label, value string) *objects.Deployment {
		return matched("cart", func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{label: value} })
	}
	requiring := func(operator corev1.NodeSelectorOperator, values ...string) *objects.Deployment {
		expression := corev1.NodeSelectorRequirement{Key: corev1.LabelOSStable, Operator: operator, Values: values}
		return matched("cart", func(p *corev1.PodSpec) {
			p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{expression}}},
			}}}
		})
	}
	options := &corev1.WindowsSecurityContextOptions{RunAsUserName: new("ContainerUser")}
	untilActive(t, matched("any", func(*corev1.PodSpec) {}).Build(), "vector")
	for name, test := range map[string]struct {
		workload   *objects.Deployment
		isInjected bool
	}{
		"selector, another label":    {selecting("pool", "windows"), true},
		"selector linux":             {selecting(corev1.LabelOSStable, "linux"), true},
		"selector windows":           {selecting(corev1.LabelOSStable, "windows"), false},
		"selector, build of Windows": {selecting(corev1.LabelWindowsBuild, "10.0.20348"), false},
		"affinity In linux":          {requiring(corev1.NodeSelectorOpIn, "linux"), true},
		"affinity In windows":        {requiring(corev1.NodeSelectorOpIn, "windows"), false},
		"affinity NotIn linux":       {requiring(corev1.NodeSelectorOpNotIn, "linux"), false},
		"options": {matched("cart", func(p *corev1.PodSpec) {
			p.SecurityContext = &corev1.PodSecurityContext{WindowsOptions: options}
		}), false},
		"options of a container": {matched("cart", func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext = &corev1.SecurityContext{WindowsOptions: options}
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			object := test.workload.Build()
			require.NoError(t, world.Client.Create(t.Context(), object, client.DryRunAll))
			require.Equal(t, test.isInjected, has(object, "vector"))
		})
	}
}
