// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func initContainers(d *appsv1.Deployment) []string {
	var names []string
	for _, c := range d.Spec.Template.Spec.InitContainers {
		names = append(names, c.Name)
	}
	return names
}

// A native sidecar starts before the application's init containers. The order needs no second rollout.
func TestVectorSidecar_PrecedesInitContainers(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").
		WithInitContainer("migrate").WithInitContainer("wait").Build()
	world.Create(t, deployment)
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	generation := deployment.Generation
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithInitContainer("prepare", "registry.example/prepare:1").Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "readiness", isUpToDate)

	world.Get(t, deployment)
	require.Equal(t, []string{"vector", "migrate", "wait", "prepare"}, initContainers(deployment))
	require.Equal(t, generation+1, deployment.Generation, "ordering costs no second rollout")
	for _, entry := range deployment.ManagedFields {
		if entry.Operation == "Apply" {
			require.NotContains(t, string(entry.FieldsV1.GetRawBytes()), `{\"name\":\"migrate\"}`, "the application's containers are its own again")
		}
	}
}

// The order of init containers is wrong. The next change corrects it, or with strictOrder a write at once.
func TestVectorSidecar_CorrectsInitContainerOrder(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"with the next change": false, "strict": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.StrictOrder = strict })

			harness.Change(t, world, deployment, func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.InitContainers = append(
					[]corev1.Container{{Name: "migrate", Image: "registry.example/migrate:1"}}, d.Spec.Template.Spec.InitContainers...)
			})
			if !strict {
				marker := objects.NewVectorSidecar("marker", vs.Namespace).Selecting("logs", "nothing").Build()
				world.Create(t, marker)
				harness.Until(t, world, marker, "a reconcile of the operator", isReady)
				world.Get(t, deployment)
				require.Equal(t, []string{"migrate", "vector"}, initContainers(deployment))
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
			}

			harness.Until(t, world, deployment, "the order", func(d *appsv1.Deployment) bool {
				return initContainers(d)[0] == "vector" && len(initContainers(d)) == 2
			})
		})
	}
}

// The kubelet stops native sidecars from the last to the first, so the drain gate comes right after Vector. Adding and
// removing it takes one rollout each.
func TestDrainGateSpec_AddsGateAfterVector(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").
		WithInitContainer("migrate").WithInitContainer("wait").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	generation := deployment.Generation

	for _, step := range []struct {
		method string
		want   []string
	}{
		{"Gate", []string{"vector", "vector-drain-gate", "migrate", "wait"}},
		{"Sleep", []string{"vector", "migrate", "wait"}},
		{"Gate", []string{"vector", "vector-drain-gate", "migrate", "wait"}},
	} {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.Shutdown = &v1alpha1.ShutdownSpec{Method: step.method}
		})
		harness.Until(t, world, deployment, step.method, func(d *appsv1.Deployment) bool {
			return slices.Equal(step.want, initContainers(d))
		})
		harness.Until(t, world, vs, "readiness", isUpToDate)
		generation++
		world.Get(t, deployment)
		require.Equal(t, generation, deployment.Generation, "%s is one rollout", step.method)
	}

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { delete(d.Labels, "logs") })
	harness.Until(t, world, deployment, "the application as it was", func(d *appsv1.Deployment) bool {
		return slices.Equal([]string{"migrate", "wait"}, initContainers(d))
	})
}

// With a Unix socket, application containers mount its directory, and Vector has a drain gate. A change to TCP, and the
// removal, take one rollout each.
func TestSocketSpec_AddsMountsAndGate(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithEmptyDir("cache", "/cache").WithInitContainer("migrate").Build()
	world.Create(t, deployment)
	before := deployment.Spec.Template.DeepCopy()
	mounts := func(d *appsv1.Deployment) []corev1.VolumeMount {
		return d.Spec.Template.Spec.Containers[0].VolumeMounts
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Socket: &v1alpha1.SocketSpec{Enabled: new(true), Mode: "unix"}}
	world.Create(t, vs)
	for _, step := range []struct {
		mode   string
		inits  []string
		mounts []corev1.VolumeMount
	}{
		{"unix", []string{"vector", "vector-drain-gate", "migrate"}, append(mounts(deployment), corev1.VolumeMount{Name: "vectorsidecar-vector-socket", MountPath: "/run/vector"})},
		{"tcp", []string{"vector", "migrate"}, mounts(deployment)},
	} {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Socket.Mode = step.mode })
		harness.Until(t, world, deployment, step.mode, func(d *appsv1.Deployment) bool {
			return slices.Equal(step.inits, initContainers(d))
		})
		harness.Until(t, world, vs, "readiness", isUpToDate)
		world.Get(t, deployment)
		require.ElementsMatch(t, step.mounts, mounts(deployment))
	}
	require.Equal(t, int64(3), deployment.Generation, "one rollout for each")

	world.Delete(t, vs)
	harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return slices.Equal([]string{"migrate"}, initContainers(d)) })
	require.Equal(t, before.Spec, deployment.Spec.Template.Spec)
}
