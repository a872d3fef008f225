// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// own returns a VectorSidecar with its own container name and ports.
func own(name, namespace string, port int32) *objects.VectorSidecar {
	return objects.NewVectorSidecar(name, namespace).Selecting("logs", "vector").Named("vector-" + name).Sidecar(func(s *v1alpha1.SidecarSpec) {
		health := port + 1000
		s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: &port}, &v1alpha1.HealthSpec{Port: &health}
	})
}

// stalls watches a namespace; ever returns the last one that was stalled since then.
func stalls(t *testing.T, namespace string) (ever func() string) {
	t.Helper()
	var mu sync.Mutex
	said := ""
	world.Watch(t, &v1alpha1.VectorSidecarList{}, func(object client.Object) {
		if vs, ok := object.(*v1alpha1.VectorSidecar); ok && condition(vs, meta.ConditionStalled) == "True" {
			mu.Lock()
			said = vs.Name + ": " + message(vs, meta.ConditionReady)
			mu.Unlock()
		}
	}, client.InNamespace(namespace))
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

// Two VectorSidecars are created at the same time, and the second one reads the write of the first one late. It reports
// no conflict.
func TestVectorSidecar_ToleratesConcurrentCreation(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			stalled := stalls(t, namespace)
			cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			world.Create(t, cart)
			a, z := own("a", namespace, 9001).Build(), own("z", namespace, 9002).Build()
			var group sync.WaitGroup
			for _, vs := range []*v1alpha1.VectorSidecar{z, a} {
				group.Go(func() { assertCreated(t, vs) })
			}
			group.Wait()

			harness.Until(t, world, a, "readiness", isUpToDate)
			harness.Until(t, world, z, "readiness", isUpToDate)
			require.Empty(t, stalled())
		})
	}
}

func assertCreated(t *testing.T, object client.Object) {
	t.Helper()
	if err := world.Client.Create(t.Context(), object); err != nil {
		t.Error(err)
	}
}

// Several VectorSidecars select a new workload. The oldest one gets the annotations without a name, and the shared
// names, whichever is written first.
func TestVectorSidecar_PrecedesByAgeInNewWorkloads(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			older, younger, refused := own("z", namespace, 9001).Build(), own("a", namespace, 9002).Build(), own("b", namespace, 9001).Build()
			world.Create(t, older)
			secondPasses(t, older)
			world.Create(t, younger, refused)
			for _, vs := range []*v1alpha1.VectorSidecar{older, younger, refused} {
				harness.Until(t, world, vs, "a first status", isReady)
			}
			cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			world.Create(t, cart)

			harness.Until(t, world, older, "readiness", isUpToDate)
			harness.Until(t, world, younger, "readiness", isUpToDate)
			harness.Until(t, world, refused, "the rejection", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Conflicting == 1 })
			world.Get(t, cart)
			require.Equal(t, "vector-z", cart.Annotations[meta.AnnotationContainerName])
			require.Equal(t, "vector-a", cart.Annotations[meta.AnnotationKeyFor(meta.AnnotationContainerName, "a")])
			require.False(t, carries(cart, "vector-b"))
		})
	}
}

// secondPasses waits until new objects are younger than older, because creation times are in whole seconds.
func secondPasses(t *testing.T, older client.Object) {
	t.Helper()
	harness.Eventually(t, "a second to pass", func() bool {
		now := objects.NewConfigMap("clock", older.GetNamespace(), "x", "")
		require.NoError(t, world.Client.Create(t.Context(), now))
		defer func() { require.NoError(t, world.Client.Delete(t.Context(), now)) }()
		return now.CreationTimestamp.After(older.GetCreationTimestamp().Time)
	})
}

// A restored backup creates all VectorSidecars within a second, so that their order by age changes. The injected
// sidecars stay.
func TestVectorSidecar_KeepsSidecarsAfterBackupRestore(t *testing.T) {
	namespace := world.Namespace(t)
	// The order by name is the reverse of the order by age.
	first, second := own("z", namespace, 9001).Build(), own("a", namespace, 9002).Build()
	namesake := own("b", namespace, 9003).Named("vector-z").Build()
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, cart, first)
	harness.Until(t, world, first, "readiness", isUpToDate)
	secondPasses(t, first)
	world.Create(t, second, namesake)
	harness.Until(t, world, second, "readiness", isUpToDate)
	isRefused := func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ObservedGeneration == vs.Generation && vs.Status.Total().Conflicting == 1
	}
	harness.Until(t, world, namesake, "the rejection", isRefused)
	harness.Until(t, world, cart, "its rollout", isRolledOut)

	require.NoError(t, running.Stop())
	for _, vs := range []*v1alpha1.VectorSidecar{first, second, namesake} {
		restore(t, vs)
	}
	world.Get(t, cart)
	before := cart.DeepCopy()
	running = world.RunOperator(options)

	harness.Until(t, world, first, "readiness", isUpToDate)
	harness.Until(t, world, second, "readiness", isUpToDate)
	harness.Until(t, world, namesake, "the rejection", isRefused)
	world.Get(t, cart)
	require.Equal(t, before.Generation, cart.Generation)
	require.Equal(t, before.Spec, cart.Spec)
	require.Equal(t, before.Annotations, cart.Annotations)
	require.Empty(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"))
}

// restore deletes a VectorSidecar and its companions, as with a lost cluster, and creates them again as a backup
// does.
func restore(t *testing.T, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	world.Get(t, vs)
	companions := &corev1.ConfigMapList{}
	require.NoError(t, world.Client.List(t.Context(), companions, client.InNamespace(vs.Namespace), client.MatchingLabels{meta.LabelSidecar: vs.Name}))
	for i := range companions.Items {
		harness.Change(t, world, &companions.Items[i], func(c *corev1.ConfigMap) { c.OwnerReferences = nil })
	}
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = nil })
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Eventually(t, "the deletion", func() bool {
		return apierrors.IsNotFound(world.Client.Get(context.WithoutCancel(t.Context()), client.ObjectKeyFromObject(vs), &v1alpha1.VectorSidecar{}))
	})
	uid := vs.UID
	vs.ObjectMeta = metav1.ObjectMeta{Name: vs.Name, Namespace: vs.Namespace}
	vs.Status = v1alpha1.VectorSidecarStatus{}
	world.Create(t, vs)
	require.NotEqual(t, uid, vs.UID)
}
