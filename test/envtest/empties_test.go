// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Client-side, kubectl asks to delete the whole list when a manifest names none of it any
// more. Of volumes the API server refuses that, for the sidecar mounts one; an empty list
// asks for the owner's alone.
func TestWhoDropsTheLastVolumeClientSideLeavesAnEmptyList(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	owned := "      volumes:\n        - {name: cache, emptyDir: {}}\n"
	mount := "          volumeMounts: [{name: cache, mountPath: /cache}]\n"
	without := strings.Replace(manifest("2"), mount, "", 1)
	require.Contains(t, without, owned)

	said := refused(t, namespace, "kubectl", "apply", "-f", file(t, strings.Replace(without, owned, "", 1)))
	require.Contains(t, said, "volumeMounts")
	run(t, namespace, "kubectl", "apply", "-f", file(t, strings.Replace(without, owned, "      volumes: []\n", 1)))

	settle(t, deployment, vs)
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		require.NotEqual(t, "cache", volume.Name)
	}
	require.NotEmpty(t, deployment.Spec.Template.Spec.Volumes, "those of the sidecar stay")
}

// Templates of charts leave empty maps and lists where nothing was given. Who applies
// one is on record for the whole of it, so that whoever adds to it meets a conflict.
func TestAnOwnerWhoAppliesEmptyMapsAndListsGetsTheSidecar(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]struct{ annotations, list string }{
		"empty": {"{}", "[]"}, "null": {"null", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			manifest := func(version int) string {
				return fmt.Sprintf(`
metadata: {name: cart, namespace: %s, labels: {logs: vector}, annotations: %[3]s}
spec:
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}, annotations: %[3]s}
    spec:
      initContainers: %[4]s
      containers: [{name: app, image: "registry.example/app:%[2]d", volumeMounts: %[4]s, env: %[4]s}]
      volumes: %[4]s`, namespace, version, empty.annotations, empty.list)
			}
			deployment := mustApply(t, "helm", namespace, manifest(1))
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
			world.Create(t, vs)
			harness.Until(t, world, deployment, "the sidecar", isInjected)

			deployment = mustApply(t, "helm", namespace, manifest(2))
			require.True(t, isInjected(deployment), "the owner's next apply meets no conflict, and leaves the sidecar")
			injected := deployment.Spec.Template.Spec.InitContainers[0].Image
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "example.com/vector:0.56.0"}
			})
			harness.Until(t, world, deployment, "the other image", func(d *appsv1.Deployment) bool {
				return d.Spec.Template.Spec.InitContainers[0].Image != injected
			})

			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "the sidecar to be gone", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 0 })
			require.Empty(t, deployment.Spec.Template.Spec.Volumes)
			require.Equal(t, []string{"deployment.kubernetes.io/revision"}, slices.Collect(maps.Keys(deployment.Annotations)))
			require.Empty(t, deployment.Spec.Template.Annotations)
			mustApply(t, "helm", namespace, manifest(3))
		})
	}
}
