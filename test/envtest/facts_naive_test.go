// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// These tests rule out the faults of an operator that appends items to the lists of a workload, finds them again by
// the names in the current spec, and trusts a hash in an annotation.

// rich returns a VectorSidecar that adds an item of each kind.
func rich(namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").
		WithEmptyDir("spool", "/spool").WithInitContainer("prepare", "registry.example/prepare:1")
}

func names(d *appsv1.Deployment) (containers, volumes []string) {
	pod := &d.Spec.Template.Spec
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			containers = append(containers, list[i].Name)
		}
	}
	for i := range pod.Volumes {
		volumes = append(volumes, pod.Volumes[i].Name)
	}
	return containers, volumes
}

// The spec is changed repeatedly. The workload never has an earlier container, init container or volume.
func TestVectorSidecar_ReplacesInjectedItems(t *testing.T) {
	t.Parallel()
	const data, config = "vectorsidecar-vector-data", "vectorsidecar-vector-config"
	for name, test := range map[string]struct {
		changes             []func(*v1alpha1.VectorSidecarSpec)
		containers, volumes []string
	}{
		"two changes give no second container": {
			changes: []func(*v1alpha1.VectorSidecarSpec){
				func(s *v1alpha1.VectorSidecarSpec) { s.Sidecar.LogLevel = "error" },
				func(s *v1alpha1.VectorSidecarSpec) { s.Sidecar.LogLevel = "trace" },
			},
			containers: []string{"vector", "prepare", "app"}, volumes: []string{config, data, "spool"},
		},
		"an init container is not appended again": {
			changes: []func(*v1alpha1.VectorSidecarSpec){
				func(s *v1alpha1.VectorSidecarSpec) { s.InitContainers[0].Image = "registry.example/prepare:2" },
				func(s *v1alpha1.VectorSidecarSpec) { s.InitContainers[0].Image = "registry.example/prepare:3" },
			},
			containers: []string{"vector", "prepare", "app"}, volumes: []string{config, data, "spool"},
		},
		"an init container that is not wanted any more goes": {
			changes:    []func(*v1alpha1.VectorSidecarSpec){func(s *v1alpha1.VectorSidecarSpec) { s.InitContainers = nil }},
			containers: []string{"vector", "app"}, volumes: []string{config, data, "spool"},
		},
		"the container of the old name goes": {
			changes:    []func(*v1alpha1.VectorSidecarSpec){func(s *v1alpha1.VectorSidecarSpec) { s.Sidecar.Name = "shipper" }},
			containers: []string{"shipper", "prepare", "app"},
			volumes:    []string{"vectorsidecar-shipper-config", "vectorsidecar-shipper-data", "spool"},
		},
		"a volume that is not wanted any more goes": {
			changes: []func(*v1alpha1.VectorSidecarSpec){func(s *v1alpha1.VectorSidecarSpec) {
				s.Volumes, s.Sidecar.VolumeMounts = nil, nil
			}},
			containers: []string{"vector", "prepare", "app"}, volumes: []string{config, data},
		},
		"a native sidecar becomes a plain container and is not both": {
			changes:    []func(*v1alpha1.VectorSidecarSpec){func(s *v1alpha1.VectorSidecarSpec) { s.Sidecar.Native = "Never" }},
			containers: []string{"prepare", "app", "vector"}, volumes: []string{config, data, "spool"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			world.Create(t, objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build())
			before := rawTemplate(t, cart(namespace))
			vs := rich(namespace).Build()
			world.Create(t, vs)
			settle(t, cart(namespace), vs)
			deployment := cart(namespace)
			counted := countRevisions(t, deployment)

			for _, change := range test.changes {
				hash := vs.Status.InjectedHash
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { change(&vs.Spec) })
				harness.Until(t, world, vs, "the change", func(vs *v1alpha1.VectorSidecar) bool {
					return isReady(vs) && vs.Status.InjectedHash != hash
				})
			}

			require.Equal(t, len(test.changes), counted.until(t, deployment))
			containers, volumes := names(deployment)
			require.ElementsMatch(t, test.containers, containers)
			require.ElementsMatch(t, test.volumes, volumes)
			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
			require.Equal(t, before, rawTemplate(t, deployment), "no trace of any of them")
		})
	}
}

func isGone(t *testing.T, object client.Object) bool {
	t.Helper()
	return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
}

// A changed selector deselects some workloads and selects others. The sidecar is removed and injected, and pods of
// those that stay selected do not restart.
func TestVectorSidecar_RemovesSidecarFromDeselected(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	leaves := objects.NewDeployment("leaves", namespace).Labeled("logs", "vector").Build()
	stays := objects.NewDeployment("stays", namespace).Labeled("logs", "vector").Labeled("team", "a").Build()
	comes := objects.NewDeployment("comes", namespace).Labeled("team", "a").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, leaves, stays, comes, vs)
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.Total().Ready == 2 })
	counted := countRevisions(t, stays)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels = map[string]string{"team": "a"} })

	harness.Until(t, world, leaves, "removal", isClean)
	harness.Until(t, world, comes, "the sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.Total().Ready == 2 })
	require.Zero(t, counted.until(t, stays))
}

// Two VectorSidecars use the same container name. Only the older one is written, and the younger one reports a
// conflict.
func TestVectorSidecar_YieldsContainerNameToOlder(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	world.Create(t, objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build())
	deployment := cart(namespace)
	older := objects.NewVectorSidecar("a-older", namespace).Selecting("logs", "vector").WithImage("registry.example/vector:a").Build()
	world.Create(t, older)
	settle(t, deployment, older)
	younger := objects.NewVectorSidecar("b-younger", namespace).Selecting("logs", "vector").WithImage("registry.example/vector:b").Build()
	world.Create(t, younger)
	loses := func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ObservedGeneration == vs.Generation && vs.Status.Total().Conflicting == 1
	}
	harness.Until(t, world, younger, "a conflict", loses)
	require.Contains(t, message(younger, meta.ConditionReady), "Conflict: 1 of 1 Deployments")
	require.Contains(t, message(younger, meta.ConditionReady), "a-older")

	// Both VectorSidecars change several times; only changes of the older one are written.
	for i := range 3 {
		for _, vs := range []*v1alpha1.VectorSidecar{younger, older} {
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Sidecar.Env = []corev1.EnvVar{{Name: "ROUND", Value: fmt.Sprint(i)}}
			})
		}
		harness.Until(t, world, older, "its change", isReady)
		harness.Until(t, world, younger, "the conflict", loses)
	}
	settle(t, deployment, older)
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), 4, "one injection and three changes of the older one")
	require.Equal(t, "registry.example/vector:a", deployment.Spec.Template.Spec.InitContainers[0].Image)
	harness.Until(t, world, younger, "the conflict", loses)

	require.NoError(t, world.Client.Delete(t.Context(), older))
	harness.Until(t, world, younger, "its rollout", isReady)
	world.Get(t, deployment)
	require.Equal(t, "registry.example/vector:b", deployment.Spec.Template.Spec.InitContainers[0].Image)
}

// Another writer changes the sidecar, but not the annotation with its hash. The operator corrects the sidecar.
func TestVectorSidecar_CorrectsSidecarWithEqualHash(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"a variable taken out":  `[{"op":"remove","path":"/spec/template/spec/initContainers/0/env/0"}]`,
		"a value changed":       `[{"op":"replace","path":"/spec/template/spec/initContainers/0/env/0/value","value":"off"}]`,
		"another image":         `[{"op":"replace","path":"/spec/template/spec/initContainers/0/image","value":"registry.example/vector:other"}]`,
		"a mount taken out":     `[{"op":"remove","path":"/spec/template/spec/initContainers/0/volumeMounts/0"}]`,
		"the container is gone": `[{"op":"remove","path":"/spec/template/spec/initContainers"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)
			harness.Until(t, world, deployment, "its rollout", isRolledOut)
			before, hash := rawTemplate(t, deployment), deployment.Annotations[meta.AnnotationInjectedHash]
			counted := countRevisions(t, deployment)

			run(t, vs.Namespace, "kubectl", "patch", "deployment", "cart", "--type=json", "--patch="+patch)

			settle(t, deployment, vs)
			require.Equal(t, hash, deployment.Annotations[meta.AnnotationInjectedHash])
			require.Equal(t, 2, counted.until(t, deployment), "the damage and the repair")
			require.Equal(t, before, rawTemplate(t, deployment))
		})
	}
}

// While the sidecar cannot be removed, the VectorSidecar keeps its finalizer and reports the reason.
func TestFinalizer_StaysUntilRemovalSucceeds(t *testing.T) {
	t.Parallel()
	removeUnderRefusal(t, metav1.StatusReasonForbidden)
}

// removeUnderRefusal deletes a VectorSidecar while a policy rejects the removal, and then deletes the policy.
func removeUnderRefusal(t *testing.T, reason metav1.StatusReason) {
	t.Helper()
	deployment, vs := injected(t)
	allow := deny(t, deployment, reason)

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Until(t, world, vs, "the failure in its status", func(vs *v1alpha1.VectorSidecar) bool {
		return condition(vs, meta.ConditionError) == "True"
	})
	require.Contains(t, message(vs, meta.ConditionReady), "templates are frozen")
	require.Contains(t, vs.Finalizers, meta.Finalizer)
	if reason == metav1.StatusReasonForbidden {
		requireRecorded(t, "deletion-blocked", vs, "Reconciling=True Retrying")
	}
	world.Get(t, deployment)
	require.True(t, isInjected(deployment))

	allow()
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
	world.Get(t, deployment)
	require.True(t, isClean(deployment))
}

// An admission policy rejects a removal as invalid, not as forbidden. The operator retries in both cases.
func TestOperator_RetriesRemovalRejectedAsInvalid(t *testing.T) {
	t.Parallel()
	removeUnderRefusal(t, metav1.StatusReasonInvalid)
}
