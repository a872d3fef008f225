// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// flipping changes the content of a ConfigMap, faster than any rollout, until it is
// stopped.
func flipping(t *testing.T, object *corev1.ConfigMap) (stop func()) {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(world.Config)
	require.NoError(t, err)
	object = object.DeepCopy()
	object.ResourceVersion = ""
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ctx.Err() == nil; n++ {
			object.Data["vector.yaml"] = objects.VectorConfig(fmt.Sprint("flip ", n))
			_, err := clientset.CoreV1().ConfigMaps(object.Namespace).Update(ctx, object, metav1.UpdateOptions{})
			if ctx.Err() == nil {
				assert.NoError(t, err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// versions records the configurations that the Deployments of a namespace get, in order.
func versions(t *testing.T, namespace string) (of func(name string) []string) {
	t.Helper()
	var mu sync.Mutex
	given := map[string][]string{}
	world.Watch(t, &appsv1.DeploymentList{}, func(d client.Object) {
		version := d.GetAnnotations()[meta.AnnotationConfigMapVersion]
		if version == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if all := given[d.GetName()]; len(all) == 0 || all[len(all)-1] != version {
			given[d.GetName()] = append(all, version)
		}
	}, client.InNamespace(namespace))
	return func(name string) []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), given[name]...)
	}
}

// A ConfigMap changes faster than rollouts finish. Each rollout finishes in all workloads before the next one starts,
// so that each pod runs before it is replaced.
func TestConfigMapRef_FinishesRolloutBeforeNextChange(t *testing.T) {
	t.Parallel()
	const size = 4
	namespace := world.Namespace(t)
	deployments := fleet(t, namespace, size, asIs)
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	given := versions(t, namespace)
	pipeline := objects.NewConfigMap("pipeline", namespace, "vector.yaml", objects.VectorConfig("first"))
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("pipeline", "").
		WithMaxConcurrent("2").WithSoak(time.Second).Build()
	world.Create(t, pipeline, vs)
	harness.Until(t, world, deployments[0], "the sidecar", isInjected)

	stop := flipping(t, pipeline)
	defer stop()
	harness.Until(t, world, vs, "the reported wait", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "ConfigMap pipeline has changed: workloads get the new content after this rollout")
	})
	harness.Eventually(t, "the second rollout in all workloads", func() bool {
		return len(given("app-00")) > 1 && len(given("app-03")) > 1
	})
	first := given("app-00")[0]
	for _, deployment := range deployments {
		require.Equal(t, first, given(deployment.Name)[0], "all have the content that the rollout was begun with")
		require.LessOrEqual(t, len(given(deployment.Name)), 3, "though it changed twenty times a second")
	}
	stop()

	harness.Until(t, world, vs, "the last content in all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Total().Ready == size
	})
	last := given("app-00")
	for _, deployment := range deployments {
		own := given(deployment.Name)
		require.Equal(t, last[len(last)-1], own[len(own)-1])
	}
	t.Logf("%d contents in all", len(last))
}

// During a rollout, a change of the VectorSidecar uses the new content of the ConfigMap at once.
func TestConfigMapRef_ReadsContentWithSpecChange(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	pipeline := objects.NewConfigMap("pipeline", namespace, "vector.yaml", objects.VectorConfig("first"))
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("pipeline", "").WithSoak(time.Hour).Build()
	world.Create(t, deployment, pipeline, vs)
	harness.Until(t, world, vs, "a soak", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].State == v1alpha1.StateSoaking
	})
	world.Get(t, deployment)
	before := deployment.Annotations[meta.AnnotationConfigMapVersion]
	harness.Change(t, world, pipeline, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = objects.VectorConfig("second") })
	harness.Until(t, world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "ConfigMap pipeline has changed: workloads get the new content")
	})
	world.Get(t, deployment)
	require.Equal(t, before, deployment.Annotations[meta.AnnotationConfigMapVersion])

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.StrictOrder = true })

	harness.Until(t, world, deployment, "the new content", func(d *appsv1.Deployment) bool {
		return d.Annotations[meta.AnnotationConfigMapVersion] != before
	})
}
