// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// After the injection and the removal, the workload equals the manifest of its application owner.
func TestVectorSidecar_RestoresWorkloadWhenDeleted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 63)
	for name, build := range map[string]func(namespace string) *objects.Deployment{
		"no annotations": func(ns string) *objects.Deployment { return objects.NewDeployment("app", ns) },
		"own volumes": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).WithEmptyDir("cache", "/cache").Pod(func(pod *corev1.PodSpec) {
				pod.Volumes = append(pod.Volumes,
					corev1.Volume{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
					corev1.Volume{Name: "info", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}}})
			})
		},
		"several containers": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).WithContainer("proxy").WithContainer("metrics")
		},
		"init containers": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).WithInitContainer("migrate").WithInitContainer("wait")
		},
		"a native sidecar of its own": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).WithInitContainer("proxy").Pod(func(pod *corev1.PodSpec) {
				always := corev1.ContainerRestartPolicyAlways
				pod.InitContainers[0].RestartPolicy = &always
			})
		},
		"istio's annotations": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).
				PodAnnotated("sidecar.istio.io/inject", "true").
				PodAnnotated("proxy.istio.io/config", "holdApplicationUntilProxyStarts: true\n").
				Annotated("kubernetes.io/change-cause", "first")
		},
		"hostNetwork": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).WithPort(8080).Pod(func(pod *corev1.PodSpec) { pod.HostNetwork = true })
		},
		"a name of 63 characters": func(ns string) *objects.Deployment {
			return objects.NewDeployment(long, ns).Pod(func(pod *corev1.PodSpec) { pod.Containers[0].Name = long })
		},
		"security, resources and probes": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).WithPort(8080).Pod(func(pod *corev1.PodSpec) {
				user, grace := int64(1000), int64(120)
				pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user, FSGroup: &user}
				pod.TerminationGracePeriodSeconds = &grace
				pod.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.5")}
				pod.Containers[0].Args = []string{}
				pod.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
				pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			})
		},
		"image pull secrets and host aliases": func(ns string) *objects.Deployment {
			return objects.NewDeployment("app", ns).Pod(func(pod *corev1.PodSpec) {
				pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
				pod.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"db"}}}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deployment := build(namespace).Labeled("logs", "vector").Build()
			world.Create(t, deployment)
			before := rawTemplate(t, deployment)
			annotations := deployment.Annotations

			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
			vs.Spec.HostNetwork = v1alpha1.HostNetworkInject
			world.Create(t, vs)
			harness.Until(t, world, deployment, "the sidecar", isInjected)
			require.Equal(t, "true", deployment.Annotations[meta.AnnotationInjected])

			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "removal", isClean)

			require.Equal(t, before, rawTemplate(t, deployment))
			delete(deployment.Annotations, "deployment.kubernetes.io/revision")
			if len(deployment.Annotations) == 0 {
				deployment.Annotations = nil
			}
			require.Equal(t, annotations, deployment.Annotations)
			for _, entry := range deployment.ManagedFields {
				require.False(t, meta.IsManager(entry.Manager), "manager %s is left", entry.Manager)
			}
			harness.Eventually(t, "the VectorSidecar and its ConfigMap to be gone", func() bool {
				err := world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs)
				return apierrors.IsNotFound(err) && len(companionsIn(t, namespace)) == 0
			})
		})
	}
}

// The operator removes the sidecar also from a workload whose rollouts are paused.
func TestVectorSidecar_RemovesSidecarFromPausedWorkload(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("app", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment)
	before := rawTemplate(t, deployment)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Paused = true })

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Until(t, world, deployment, "removal", isClean)
	require.Equal(t, before, rawTemplate(t, deployment))
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	})
}

// A VectorSidecar is deleted with deletionPolicy Orphan. A later one of the same name adopts the sidecar without a
// rollout.
func TestDeletionOrphan_KeepsSidecarAndCompanion(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.DeletionPolicy = v1alpha1.DeletionOrphan })
	before := rawTemplate(t, deployment)

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	})
	require.Equal(t, before, rawTemplate(t, deployment))
	companions := companionsIn(t, vs.Namespace)
	require.Len(t, companions, 1)
	require.Empty(t, companions[0].OwnerReferences, "the garbage collector has no reason to take it")

	// A new VectorSidecar of the same name adopts the sidecar without a rollout.
	world.Get(t, deployment)
	generation := deployment.Generation
	world.Create(t, objects.NewVectorSidecar(vs.Name, vs.Namespace).Selecting("logs", "vector").Build())
	again := objects.NewVectorSidecar(vs.Name, vs.Namespace).Build()
	harness.Until(t, world, again, "readiness", isUpToDate)
	world.Get(t, deployment)
	require.Equal(t, generation, deployment.Generation)
}

func TestVectorSidecar_DoesNotBlockNamespaceDeletion(t *testing.T) {
	t.Parallel()
	_, vs := injected(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: vs.Namespace}}

	require.NoError(t, world.Client.Delete(t.Context(), namespace))

	// After that, only the namespace controller delays the deletion, which may take another minute.
	harness.Eventually(t, "the deletion of all objects of the operator", func() bool {
		var sidecars v1alpha1.VectorSidecarList
		require.NoError(t, world.Client.List(t.Context(), &sidecars, client.InNamespace(vs.Namespace)))
		return len(sidecars.Items)+len(companionsIn(t, vs.Namespace)) == 0
	})
}

// rawTemplate returns spec.template as the API server sends it.
func rawTemplate(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(deployment), raw))
	template, found, err := unstructured.NestedMap(raw.Object, "spec", "template")
	require.NoError(t, err)
	require.True(t, found)
	text, err := json.Marshal(template)
	require.NoError(t, err)
	return string(text)
}

// companionsIn lists the ConfigMaps that the operator made in a namespace.
func companionsIn(t *testing.T, namespace string) []corev1.ConfigMap {
	t.Helper()
	var found corev1.ConfigMapList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar}))
	return found.Items
}
