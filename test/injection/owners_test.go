// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func cart(namespace string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: namespace}}
}

// revisions counts the ReplicaSets of a namespace, after the Deployment controller has seen all Deployments as they are.
func revisions(t *testing.T, namespace string) int {
	t.Helper()
	harness.Eventually(t, "the Deployment controller", func() bool {
		var deployments appsv1.DeploymentList
		require.NoError(t, world.Client.List(t.Context(), &deployments, client.InNamespace(namespace)))
		return !slices.ContainsFunc(deployments.Items, func(d appsv1.Deployment) bool { return d.Status.ObservedGeneration < d.Generation })
	})
	var found appsv1.ReplicaSetList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
	return len(found.Items)
}

// settled creates the Deployment of a manifest and waits until the operator has adopted the injected sidecar.
func settled(t *testing.T, deploy deployer) (namespace string, deployment *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace = world.Namespace(t)
	vs = objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	untilActive(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "vector")
	deploy(t, namespace, manifest("app:1", ""))
	deployment = cart(namespace)
	harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	harness.Until(t, world, deployment, "its pods", func(d *appsv1.Deployment) bool {
		return d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == 1
	})
	require.EqualValues(t, 1, deployment.Generation)
	require.Equal(t, 1, revisions(t, namespace))
	return namespace, deployment, vs
}

// With each deployment tool, a changed manifest increases the generation by one, and the new pod template has the
// sidecar.
func TestOverlaySet_KeepsOneGenerationForEachDeploy(t *testing.T) {
	t.Parallel()
	for name, deploy := range deployers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, deployment, vs := settled(t, deploy)
			deploy(t, namespace, manifest("app:1", ""))
			world.Get(t, deployment)
			require.EqualValues(t, 1, deployment.Generation, "the same again changes nothing")

			deploy(t, namespace, manifest("app:2", ""))
			world.Get(t, deployment)
			require.EqualValues(t, 2, deployment.Generation)
			require.Equal(t, []string{"vector", "app"}, names(deployment))
			harness.Until(t, world, deployment, "its pods", func(d *appsv1.Deployment) bool {
				return d.Status.ObservedGeneration == 2 && d.Status.UpdatedReplicas == 1
			})
			require.Equal(t, 2, revisions(t, namespace))

			world.Delete(t, vs)
			harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
			require.Equal(t, []string{"app"}, names(deployment))
			require.Empty(t, deployment.Spec.Template.Spec.Volumes)
			require.Empty(t, deployment.Spec.Template.Annotations)
			deploy(t, namespace, manifest("app:3", ""))
			world.Get(t, deployment)
			require.Equal(t, []string{"app"}, names(deployment), "what nobody asks for does not come back")
		})
	}
}

// If kubectl replace removes the sidecar, the API server injects it again in the same request.
func TestOverlaySet_InjectsWithKubectlReplace(t *testing.T) {
	t.Parallel()
	namespace, deployment, vs := settled(t, byKubectl("create"))
	mustKubectl(t, namespace, manifest("app:2", ""), "replace")
	world.Get(t, deployment)
	require.EqualValues(t, 2, deployment.Generation)
	require.Equal(t, []string{"vector", "app"}, names(deployment))
	harness.Until(t, world, deployment, "another adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.Equal(t, 2, revisions(t, namespace))

	world.Delete(t, vs)
	harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
	require.Empty(t, deployment.Spec.Template.Annotations)
	require.Empty(t, deployment.Spec.Template.Spec.Volumes)
	require.Equal(t, []string{"app"}, names(deployment))
}

// If a client changes the number of replicas, the pod template does not change and no rollout starts.
func TestOverlaySet_IgnoresScaling(t *testing.T) {
	t.Parallel()
	namespace, deployment, _ := settled(t, byApply)
	before := deployment.Spec.Template.DeepCopy()
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	require.NoError(t, world.Client.SubResource("scale").Update(t.Context(), deployment.DeepCopy(), client.WithSubResourceBody(scale)))
	harness.Until(t, world, deployment, "three pods", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 3 })
	require.Equal(t, before, &deployment.Spec.Template)
	require.Equal(t, 1, revisions(t, namespace))
}

// If a Deployment is rolled back to a revision with an older sidecar or without one, the API server injects the
// current sidecar in the same request. The rollback starts one rollout.
func TestOverlaySet_InjectsCurrentSidecarIntoRollback(t *testing.T) {
	t.Parallel()
	for name, withSidecar := range map[string]bool{"a revision without one": false, "a revision with an older one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = "info" }).Build()
			if withSidecar {
				world.Create(t, vs)
				awaitOverlay(t, vs)
				untilActive(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "vector")
			}
			byApply(t, namespace, manifest("app:1", ""))
			deployment := cart(namespace)
			rolledOut := func(d *appsv1.Deployment) bool {
				return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == 1 && d.Status.AvailableReplicas == 1 && d.Status.Replicas == 1
			}
			harness.Until(t, world, deployment, "revision 1", rolledOut)
			if withSidecar {
				harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "debug"} })
			} else {
				world.Create(t, vs)
			}
			want := "info"
			if withSidecar {
				want = "debug"
			}
			current := func(d *appsv1.Deployment) bool { return logLevel(d) == want }
			harness.Until(t, world, deployment, "the present sidecar", current)
			harness.Until(t, world, deployment, "revision 2", rolledOut)
			awaitOverlay(t, vs)
			overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool {
				return o.SkipReason == "" && o.Hash == deployment.Annotations["vectorsidecar.observability.kontroloop.ai/injected-hash"]
			})
			untilActive(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "vector")
			generation := deployment.Generation

			mustKubectl(t, namespace, "", "rollout", "undo", "deployment/cart", "--to-revision=1")
			world.Get(t, deployment)
			require.True(t, current(deployment), "the rollback's own request has it: %v", deployment.Spec.Template.Annotations)
			harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool {
				return isAdopted("logs")(d) && d.Annotations["vectorsidecar.observability.kontroloop.ai/injected-hash"] != ""
			})
			harness.Until(t, world, deployment, "its pods", rolledOut)
			require.LessOrEqual(t, deployment.Generation, generation+2)
			require.LessOrEqual(t, revisions(t, namespace), 3)

			world.Delete(t, vs)
			harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
			require.Equal(t, []string{"app"}, names(deployment))
			require.Empty(t, deployment.Spec.Template.Spec.Volumes)
			require.Empty(t, deployment.Spec.Template.Annotations)
		})
	}
}

// logLevel returns the log level of the sidecar, or the empty string without a sidecar.
func logLevel(of client.Object) string {
	for _, container := range template(of).Spec.InitContainers {
		for _, variable := range container.Env {
			if variable.Name == "VECTOR_LOG" {
				return variable.Value
			}
		}
	}
	return ""
}
