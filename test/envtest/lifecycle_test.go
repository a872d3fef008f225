// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// injected creates a Deployment with the sidecar, and waits for its rollout.
func injected(t *testing.T) (*appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.InjectedDeployments == 1
	})
	world.Get(t, deployment)
	require.True(t, isInjected(deployment))
	return deployment, vs
}

func TestVectorSidecar_InjectsLabeledWorkloads(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).WithReplicas(2).Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "a first status", isReady)
	require.Equal(t, "NoMatch: the selector matches no Deployment of the namespace", message(vs, meta.ConditionReady))
	requireRecorded(t, "no-match", vs, "Ready=True NoMatch")
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	generation := deployment.Generation

	labeled := time.Now()
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Labels = map[string]string{"logs": "vector"} })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	t.Logf("label to sidecar: %s", time.Since(labeled).Round(time.Millisecond))

	require.Equal(t, generation+1, deployment.Generation, "one write, one rollout")
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.InjectedDeployments == 1
	})
	require.EqualValues(t, 1, vs.Status.MatchedDeployments)
	require.Equal(t, "development", vs.Status.Environment)
	require.Equal(t, deployment.Annotations[meta.AnnotationInjectedHash], vs.Status.InjectedHash)
	require.Equal(t, "vector", deployment.Annotations[meta.AnnotationContainerName])
	require.NotEmpty(t, deployment.Annotations[meta.AnnotationConfigMapVersion])
	require.NotNil(t, vs.Status.LastReconcileTime)
	require.Contains(t, message(vs, meta.ConditionReady), "workloads with warnings (1): Deployment "+namespace+"/cart: the sidecar collects no data from its application")
	requireRecorded(t, "ready", vs, "Ready=True UpToDate")

	var pods corev1.PodList
	require.NoError(t, world.Client.List(t.Context(), &pods, client.InNamespace(namespace)))
	running := 0
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			running++
			require.Len(t, pod.Spec.InitContainers, 1)
			require.Equal(t, corev1.ContainerRestartPolicyAlways, *pod.Spec.InitContainers[0].RestartPolicy, "a native sidecar")
		}
	}
	require.Equal(t, 2, running)
	require.Equal(t, 2, replicaSets(t, namespace), "one rollout at creation, one for the sidecar")
}

// Disabling the VectorSidecar, removing the label and changing the selector each remove the sidecar.
func TestVectorSidecar_RemovesSidecar(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(t *testing.T, d *appsv1.Deployment, vs *v1alpha1.VectorSidecar){
		"disable": func(t *testing.T, _ *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
		},
		"unlabel": func(t *testing.T, d *appsv1.Deployment, _ *v1alpha1.VectorSidecar) {
			harness.Change(t, world, d, func(d *appsv1.Deployment) { delete(d.Labels, "logs") })
		},
		"select others": func(t *testing.T, _ *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Selector.MatchLabels = map[string]string{"logs": "other"}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)

			remove(t, deployment, vs)

			harness.Until(t, world, deployment, "removal", isClean)
			require.NotContains(t, deployment.Annotations, meta.AnnotationInjected)
			harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
				return isReady(vs) && vs.Status.InjectedDeployments == 0
			})
			require.Empty(t, vs.Status.InjectedHash)
			if name == "disable" {
				requireRecorded(t, "disabled", vs, "Ready=True Disabled")
				require.EqualValues(t, 1, vs.Status.MatchedDeployments, "it is matched, though it carries nothing")
				require.NotEmpty(t, companionsIn(t, vs.Namespace), "the workload can be rolled back to them")
				harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = new(int32) })
				harness.Eventually(t, "the deletion of the generated ConfigMaps", func() bool { return len(companionsIn(t, vs.Namespace)) == 0 })
			}
		})
	}
}

// Another writer removes the sidecar from a workload. The operator injects it again.
func TestVectorSidecar_RestoresRemovedSidecar(t *testing.T) {
	t.Parallel()
	deployment, _ := injected(t)

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers = nil })

	harness.Until(t, world, deployment, "the sidecar", isInjected)
}

func TestVectorSidecar_RollsOutSpecChangeOnce(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	generation, sets := deployment.Generation, replicaSets(t, vs.Namespace)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace", Image: "docker.io/timberio/vector:0.56.0-alpine"}
	})

	harness.Until(t, world, deployment, "its rollout", isRolledOut)
	harness.Until(t, world, vs, "readiness", isReady)
	world.Get(t, deployment)
	require.Equal(t, generation+1, deployment.Generation)
	require.Equal(t, sets+1, replicaSets(t, vs.Namespace))
	require.Equal(t, "docker.io/timberio/vector:0.56.0-alpine", deployment.Spec.Template.Spec.InitContainers[0].Image)
}

// A VectorSidecar neither reads ConfigMaps of other namespaces nor writes to their workloads.
func TestVectorSidecar_StaysInItsNamespace(t *testing.T) {
	t.Parallel()
	here, there := world.Namespace(t), world.Namespace(t)
	deployment := objects.NewDeployment("cart", there).Labeled("logs", "vector").Build()
	config := objects.NewConfigMap("vector", there, "vector.yaml", objects.VectorConfig("there"))
	vs := objects.NewVectorSidecar("logs", here).Selecting("logs", "vector").WithConfigMap("vector", "").Build()
	world.Create(t, deployment, config, vs)

	harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionReady) != "" })

	require.Contains(t, message(vs, meta.ConditionReady), "ConfigMapNotFound: ConfigMap "+here+"/vector does not exist")
	world.Get(t, deployment)
	require.True(t, isClean(deployment))
	require.Empty(t, running.Requests.Writes("/namespaces/"+there+"/"))
}

func TestVectorSidecar_EmitsEventsForInjectionAndRemoval(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	harness.Eventually(t, "an event on the workload and on the VectorSidecar", func() bool {
		return eventsOf(t, deployment, meta.ReasonInjected) == 1 && eventsOf(t, vs, meta.ReasonInjected) == 1
	})

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Eventually(t, "an event of the removal", func() bool { return eventsOf(t, deployment, meta.ReasonRemoved) == 1 })
}

func eventsOf(t *testing.T, object client.Object, reason string) int {
	t.Helper()
	var found eventsv1.EventList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(object.GetNamespace())))
	n := 0
	for _, event := range found.Items {
		if event.Regarding.UID == object.GetUID() && event.Reason == reason {
			n++
		}
	}
	return n
}

func replicaSets(t *testing.T, namespace string) int {
	t.Helper()
	var found appsv1.ReplicaSetList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
	return len(found.Items)
}

// The operator skips pods with hostNetwork and Windows pods, and reports the reason, not an error. A skipped workload
// that already has the sidecar keeps it and gets updates.
func TestVectorSidecar_SkipsHostNetworkAndWindows(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	hosted := objects.NewDeployment("hosted", namespace).WithReplicas(0).Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) { pod.HostNetwork = true }).Build()
	windows := objects.NewDeployment("windows", namespace).WithReplicas(0).Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
		pod.NodeSelector = map[string]string{corev1.LabelOSStable: "windows"}
	}).Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, hosted, windows, vs)

	harness.Until(t, world, vs, "the skipped state of both", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && len(vs.Status.Workloads) == 2
	})
	for n, want := range []string{meta.ReasonHostNetwork, meta.ReasonWindows} {
		require.Equal(t, want, vs.Status.Workloads[n].Reason)
		require.Equal(t, v1alpha1.StateSkipped, vs.Status.Workloads[n].State)
	}
	require.Equal(t, "False", condition(vs, meta.ConditionError))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.HostNetwork = v1alpha1.HostNetworkInject })
	harness.Until(t, world, hosted, "the allowed sidecar", isInjected)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.HostNetwork = v1alpha1.HostNetworkSkip
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"}
	})
	harness.Until(t, world, hosted, "a change of the present sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && logLevel(d) == "trace" })
	world.Get(t, windows)
	require.False(t, isInjected(windows))
}
