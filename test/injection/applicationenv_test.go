// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const toldByTraces = meta.Group + "/injected-env.traces"

// newInjectingSidecar listens for OTLP and for lines. It injects the OTEL_ variables and the variable named by socket.
func newInjectingSidecar(name, namespace, socket string, kinds ...v1alpha1.WorkloadKind) *v1alpha1.VectorSidecar {
	return otlp(name, namespace).For(kinds...).Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Socket = &v1alpha1.SocketSpec{Enabled: ptr.To(true)}
		s.ApplicationEnv = &v1alpha1.ApplicationEnvSpec{OTLP: ptr.To("grpc"), Socket: &socket}
	}).Build()
}

// injectedVariables returns the environment of a container as NAME=VALUE.
func injectedVariables(object client.Object, container string) []string {
	spec, found := &template(object).Spec, []string{}
	for i := range spec.Containers {
		if spec.Containers[i].Name == container {
			for _, one := range spec.Containers[i].Env {
				found = append(found, one.Name+"="+one.Value)
			}
		}
	}
	return found
}

// When a workload of any kind is created, the API server injects the environment variables in the same request, so no
// second rollout starts. When the VectorSidecar is deleted, the variables are removed.
func TestApplicationEnvSpec_InjectsIntoEveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			plain := harness.NewWorkload(kind, "plain", namespace, map[string]string{"team": "shop"})
			object := harness.NewWorkload(kind, "cart", namespace, map[string]string{"logs": "vector"})
			for _, of := range []client.Object{plain, object} {
				harness.ChangeTemplate(of, func(pods *corev1.PodTemplateSpec) {
					pods.Spec.Containers[0].Env = []corev1.EnvVar{
						{Name: "FIRST", Value: "1"}, {Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
						{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
					}
					// The name is also a key in the annotation that lists the injected items.
					pods.Spec.Containers = append(pods.Spec.Containers, corev1.Container{Name: "manager", Image: "web:1"})
				})
			}
			vs := newInjectingSidecar("traces", namespace, "LOG_ADDRESS", v1alpha1.WorkloadKind(kind))
			world.Create(t, vs)
			awaitOverlay(t, vs)
			untilActive(t, object, "vector-otlp")
			world.Create(t, plain, object)
			t.Cleanup(func() {
				ctx := context.WithoutCancel(t.Context())
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(ctx, object)))
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(ctx, plain)))
			})
			app := template(object).Spec.Containers[0].Name
			want := []string{
				"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
				"OTEL_RESOURCE_ATTRIBUTES=service.name=cart,service.namespace=" + namespace + ",k8s.namespace.name=" + namespace + ",k8s." + strings.ToLower(kind) + ".name=cart",
				"LOG_ADDRESS=127.0.0.1:5170",
			}
			require.Equal(t, append([]string{"FIRST=1", "NODE=", "CPU="}, want...), injectedVariables(object, app), "after the owner's")
			require.Equal(t, want, injectedVariables(object, "manager"))
			require.Contains(t, template(object).Annotations[toldByTraces], "manager LOG_ADDRESS=127.0.0.1:5170")

			harness.Until(t, world, object, "the adoption by the operator", isAdopted("traces"))
			require.EqualValues(t, 1, object.GetGeneration(), "no second rollout: %v", object.GetAnnotations())
			world.Delete(t, vs)
			harness.Until(t, world, object, "no sidecar", func(of client.Object) bool { return !has(of, "vector-otlp") })
			world.Get(t, plain)
			require.Equal(t, template(plain).Spec, template(object).Spec)
			require.Equal(t, template(plain).Annotations, template(object).Annotations)
			require.NotContains(t, template(object).Annotations, toldByTraces)
		})
	}
}

// The API server does not replace a variable that a container already sets. It does not inject a variable that the
// container's envFrom may contain.
func TestApplicationEnvSpec_KeepsExistingVariables(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := newInjectingSidecar("traces", namespace, "LOG_ADDRESS")
	world.Create(t, vs)
	awaitOverlay(t, vs)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	untilActive(t, deployment, "vector-otlp")
	from := func(prefix string) []corev1.EnvFromSource {
		return []corev1.EnvFromSource{{Prefix: prefix, ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "any"}}}}
	}
	spec := &deployment.Spec.Template.Spec
	spec.Containers[0].Env = []corev1.EnvVar{{Name: endpoint, Value: "http://own:1"}, {Name: "LOG_ADDRESS", Value: ""}}
	spec.Containers = append(spec.Containers,
		corev1.Container{Name: "any", Image: "any:1", EnvFrom: from("")},
		corev1.Container{Name: "otel", Image: "any:1", EnvFrom: from("OTEL_")},
	)
	world.Create(t, deployment)
	require.Equal(t, []string{"http://own:1"}, values(deployment, endpoint))
	require.Equal(t, []string{""}, values(deployment, "LOG_ADDRESS"))
	require.Len(t, injectedVariables(deployment, "app"), 4)
	require.Empty(t, injectedVariables(deployment, "any"), "envFrom may have any name")
	require.Equal(t, []string{"LOG_ADDRESS=127.0.0.1:5170"}, injectedVariables(deployment, "otel"))

	nameless := objects.NewDeployment("", namespace).Labeled("logs", "vector").Build()
	nameless.GenerateName = "shop-"
	world.Create(t, nameless)
	require.Len(t, injectedVariables(nameless, "app"), 3, "its name is not known yet: %v", injectedVariables(nameless, "app"))
	require.Empty(t, values(nameless, "OTEL_RESOURCE_ATTRIBUTES"))
}

// If spec.sidecar.applicationEnv.containers is set, only these containers receive the variables.
func TestApplicationEnvSpec_InjectsNamedContainersOnly(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := newInjectingSidecar("traces", namespace, "")
	vs.Spec.Sidecar.ApplicationEnv.Containers = []string{"web", "none"}
	world.Create(t, vs)
	awaitOverlay(t, vs)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	untilActive(t, deployment, "vector-otlp")
	spec := &deployment.Spec.Template.Spec
	spec.Containers = append(spec.Containers, corev1.Container{Name: "web", Image: "web:1"})
	world.Create(t, deployment)
	require.Empty(t, injectedVariables(deployment, "app"))
	require.Len(t, injectedVariables(deployment, "web"), 3)
	require.Empty(t, injectedVariables(deployment, "vector-otlp"))
}

// If two VectorSidecars inject the same variable, the value of the older one is used. After the older one is deleted,
// the next write of the workload injects the value of the younger one.
func TestApplicationEnvSpec_PrefersOlderVectorSidecar(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	older := newInjectingSidecar("a-traces", namespace, "LOG_ADDRESS")
	younger := objects.NewVectorSidecar("b-lines", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Socket = &v1alpha1.SocketSpec{Enabled: ptr.To(true), Port: ptr.To(int32(5171))}
		s.ApplicationEnv = &v1alpha1.ApplicationEnvSpec{Socket: ptr.To("LOG_ADDRESS")}
	}).Build()
	world.Create(t, older, younger)
	awaitOverlay(t, older)
	awaitOverlay(t, younger)
	every := objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build()
	untilActive(t, every, "vector-otlp")
	untilActive(t, every, "vector")
	byApply(t, namespace, manifest("app:1", own))
	deployment := cart(namespace)
	harness.Until(t, world, deployment, "the adoption of both sidecars", func(d *appsv1.Deployment) bool { return isAdopted("a-traces")(d) && isAdopted("b-lines")(d) })
	require.Equal(t, []string{"127.0.0.1:5170"}, values(deployment, "LOG_ADDRESS"))

	world.Delete(t, older)
	harness.Until(t, world, deployment, "a single sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector-otlp") })
	require.Equal(t, []string{"FIRST=one"}, injectedVariables(deployment, "app"))
	untilGone(t, older)
	byApply(t, namespace, manifest("app:2", own))
	world.Get(t, deployment)
	require.Equal(t, []string{"FIRST=one", "LOG_ADDRESS=127.0.0.1:5171"}, injectedVariables(deployment, "app"))
	world.Delete(t, younger)
	harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
	require.Equal(t, []string{"FIRST=one"}, injectedVariables(deployment, "app"))
	require.Empty(t, deployment.Spec.Template.Annotations)
}

// untilGone waits until the OverlaySet has no overlay of a VectorSidecar.
func untilGone(t *testing.T, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	set := &v1alpha1.OverlaySet{}
	harness.Eventually(t, "no overlay of "+vs.Name, func() bool {
		key := client.ObjectKey{Namespace: vs.Namespace, Name: meta.OverlaySet}
		return world.Client.Get(t.Context(), key, set) == nil &&
			!slices.ContainsFunc(set.Spec.Overlays, func(o v1alpha1.Overlay) bool { return o.VectorSidecar == vs.Name })
	})
}

// If the policy does not allow the name of a variable, nothing is injected, and the status names the variable.
func TestApplicationEnvSpec_RejectsNamesOutsidePolicy(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := newInjectingSidecar("traces", namespace, "LD_PRELOAD")
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, vs, deployment)
	require.Contains(t, awaitSkipReason(t, vs), "variables not allowed: LD_PRELOAD (sidecar.applicationEnv)")
	harness.Until(t, world, vs, "a rejection", func(vs *v1alpha1.VectorSidecar) bool {
		return slices.ContainsFunc(vs.Status.Conditions, func(c metav1.Condition) bool { return c.Reason == meta.ReasonPolicyViolation })
	})
	world.Get(t, deployment)
	require.Empty(t, injectedVariables(deployment, "app"))
}

// The API server accepts pods with many containers and variables, because the policy stays within the limits of CEL
// cost and annotation size. If a pod has too many containers, the API server injects the sidecar without variables.
func TestApplicationEnvSpec_StaysWithinAPIServerLimits(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := newInjectingSidecar("traces", namespace, "LOG_ADDRESS")
	world.Create(t, vs)
	awaitOverlay(t, vs)
	untilActive(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "vector-otlp")
	many := func(containers, variables int) *appsv1.Deployment {
		deployment := objects.NewDeployment(fmt.Sprintf("cart-%d", containers), namespace).Labeled("logs", "vector").WithReplicas(0).Build()
		spec := &deployment.Spec.Template.Spec
		for len(spec.Containers) < containers {
			spec.Containers = append(spec.Containers, corev1.Container{Name: fmt.Sprintf("c-%d", len(spec.Containers)), Image: "any:1"})
		}
		for i := range spec.Containers {
			for n := range variables {
				spec.Containers[i].Env = append(spec.Containers[i].Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", n), Value: "any"})
			}
		}
		return deployment
	}
	t.Logf("20 containers of 100 variables: %s", costOf(t, many(20, 100)))
	// With more variables, the API server needs seconds on two cores, with or without a policy.
	for _, pod := range []struct {
		containers, variables int
		isTold                bool
	}{{20, 10, true}, {90, 5, false}} {
		deployment, isTold := many(pod.containers, pod.variables), pod.isTold
		world.Create(t, deployment)
		require.True(t, has(deployment, "vector-otlp"))
		require.Equal(t, isTold, len(injectedVariables(deployment, "c-5")) == pod.variables+4)
		harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env[0].Value = "other" })
		require.Equal(t, isTold, len(injectedVariables(deployment, "c-5")) == pod.variables+4)
		harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[5].Env = nil })
		require.Equal(t, isTold, len(injectedVariables(deployment, "c-5")) == 4, "the policy is evaluated: %v", injectedVariables(deployment, "c-5"))
	}
}
