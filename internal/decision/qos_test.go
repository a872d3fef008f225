// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// With qos Keep, a pod of the QoS class Guaranteed stays Guaranteed with the sidecar. If that is not possible, a
// warning reports it.
func TestDecide_KeepsGuaranteedQoSClass(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	init := func(resources corev1.ResourceRequirements) *v1alpha1.VectorSidecar {
		vs := logs().InEnvironment("production").WithInitContainer("tables", "registry.example/tables:1").Build()
		vs.Spec.InitContainers[0].Resources = resources
		return vs
	}
	gate := logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.QoS, s.Logs = "Keep", &v1alpha1.LogsSpec{Path: "/var/log/app"}
		s.Shutdown = &v1alpha1.ShutdownSpec{Method: "Gate"}
	})
	only := list("1", "64Mi")
	only[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
	whole := corev1.ResourceRequirements{Requests: list("500m", "256Mi"), Limits: list("500m", "256Mi")}
	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		has     corev1.ResourceRequirements
		want    corev1.PodQOSClass
		says    string
	}{
		"nobody asked for it":        {logs().Build(), whole, corev1.PodQOSBurstable, ""},
		"production asks for it":     {logs().InEnvironment("production").Build(), whole, corev1.PodQOSGuaranteed, ""},
		"not in production":          {logs().InEnvironment("production").Sidecar(func(s *v1alpha1.SidecarSpec) { s.QoS = "Ignore" }).Build(), whole, corev1.PodQOSBurstable, ""},
		"a pod that is not":          {logs().InEnvironment("production").Build(), corev1.ResourceRequirements{Requests: list("1", "1Gi")}, corev1.PodQOSBurstable, ""},
		"with a gate":                {gate.Build(), whole, corev1.PodQOSGuaranteed, ""},
		"with an init container":     {init(corev1.ResourceRequirements{Limits: only, Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m")}}), whole, corev1.PodQOSGuaranteed, ""},
		"one that names no resource": {init(corev1.ResourceRequirements{}), whole, corev1.PodQOSBurstable, "neither requests nor limits contain cpu of container tables, memory of container tables"},
	} {
		t.Run(name, func(t *testing.T) {
			app := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Pod(func(pod *corev1.PodSpec) {
				pod.Containers[0].Resources = test.has
			}).Build()
			s := snapshot(t, test.sidecar, app)
			p := decide(t, s).Plans[0]
			view := s.Workloads[0].View()
			require.NotNil(t, p.Desired, p.Message())
			require.Equal(t, test.want, p.Desired.QoSClass(&view))
			if test.says == "" {
				require.NotContains(t, p.Warning, "Guaranteed")
				return
			}
			require.Contains(t, p.Warning, "the sidecar changes the QoS class of pods from Guaranteed to Burstable although sidecar.qos is Keep: "+test.says)
		})
	}
}

// With qos Keep, the sidecar is updated if the application owner changes the QoS class of the pod.
func TestDecide_FollowsQoSClassOfPod(t *testing.T) {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	for environment, want := range map[string]plan.Change{"production": plan.Update, "development": plan.None} {
		t.Run(environment, func(t *testing.T) {
			s := snapshot(t, logs().InEnvironment(environment).Build(), cart())
			before := decide(t, s).Plans[0]
			require.Equal(t, plan.Inject, before.Change)
			carried(s, &before)
			require.Equal(t, plan.None, decide(t, s).Plans[0].Change)
			change(s, func(view *workload.View) {
				view.QoSClass = workload.NewView(objects.NewDeployment("cart", "shop").Pod(func(pod *corev1.PodSpec) { pod.Containers[0].Resources.Limits = limits }).Build()).QoSClass
			})
			require.EqualValues(t, want, decide(t, s).Plans[0].Action())
		})
	}
}
