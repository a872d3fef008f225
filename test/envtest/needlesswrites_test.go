// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestVectorSidecar_WritesNothingAfterRestart(t *testing.T) {
	namespace := world.Namespace(t)
	world.Create(t, objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig("x")))
	sidecars := []*v1alpha1.VectorSidecar{
		objects.NewVectorSidecar("rendered", namespace).Selecting("logs", "rendered").Build(),
		objects.NewVectorSidecar("inline", namespace).Selecting("logs", "inline").WithInlineConfig(objects.VectorConfig("x")).Build(),
		objects.NewVectorSidecar("referenced", namespace).Selecting("logs", "referenced").WithConfigMap("vector", "").Build(),
		objects.NewVectorSidecar("custom", namespace).Selecting("logs", "custom").Named("shipper").WithEnv("A", "b").
			WithEmptyDir("spool", "/spool").WithInitContainer("prepare", "registry.example/prepare:1").
			Sidecar(func(s *v1alpha1.SidecarSpec) { s.Native = "Never" }).Build(),
		objects.NewVectorSidecar("disabled", namespace).Selecting("logs", "rendered").Disabled().Build(),
		objects.NewVectorSidecar("broken", namespace).Selecting("logs", "inline").InEnvironment("nowhere").Build(),
	}
	for _, vs := range sidecars {
		deployment := objects.NewDeployment(vs.Name, namespace).Labeled("logs", vs.Name).WithEmptyDir("logs", "/var/log/app").Build()
		world.Create(t, deployment, vs)
	}
	settle := func() {
		for _, vs := range sidecars[:5] {
			harness.Until(t, world, vs, "readiness", isReady)
		}
		harness.Until(t, world, sidecars[5], "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Status.Conditions) > 0 })
	}
	settle()

	require.NoError(t, running.Stop())
	// This VectorSidecar is deleted while no operator runs. When its finalizer is gone, the next operator has
	// reconciled everything.
	marker := objects.NewVectorSidecar("marker", namespace).Selecting("logs", "nothing").Build()
	world.Create(t, marker)
	running = world.RunOperator(options)
	harness.Until(t, world, marker, "a status from the new operator", isReady)
	settle()

	var writes []harness.Request
	for _, write := range running.Requests.Writes("") {
		// VectorSidecars of earlier tests may have a status that was due when the operator stopped.
		isOfOtherTest := strings.Contains(write.Path, "/namespaces/") &&
			!strings.Contains(write.Path, "/namespaces/"+namespace+"/") && !strings.Contains(write.Path, "/namespaces/"+options.Namespace+"/")
		if !isOfOtherTest && write.Path != "/apis/observability.kontroloop.ai/v1alpha1/namespaces/"+namespace+"/vectorsidecars/marker/status" {
			writes = append(writes, write)
		}
	}
	require.Empty(t, writes)
}

func TestVectorSidecar_InjectsWithOneWrite(t *testing.T) {
	t.Parallel()
	const workloads = 20
	namespace := world.Namespace(t)
	for i := range workloads {
		d := objects.NewDeployment("app-"+string(rune('a'+i)), namespace).Labeled("logs", "vector").WithReplicas(0).Build()
		world.Create(t, d)
		harness.Until(t, world, d, "its controller", func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration == d.Generation })
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.InjectedDeployments == workloads
	})

	below := "/namespaces/" + namespace + "/"
	written := running.Requests.Writes(below + "deployments")
	require.Len(t, written, workloads)
	require.Len(t, running.Requests.Writes(below+"configmaps"), 1)
	// The operator lists ReplicaSets and pods only of rollouts that take longer, as these may on a slow machine.
	const long = time.Second
	isLookedAt := false
	require.Empty(t, slices.DeleteFunc(running.Requests.Reads(below), func(read harness.Request) bool {
		if slices.Contains([]string{"replicasets", "pods"}, path.Base(read.Path)) {
			return isLookedAt
		}
		isLook := slices.ContainsFunc(written, func(write harness.Request) bool {
			return write.Path == read.Path && read.At.Sub(write.At) > long
		})
		isLookedAt = isLookedAt || isLook
		return isLook
	}))
}

// A reconcile without a change does not write the status.
func TestVectorSidecarStatus_ChangesOnlyWithItsContent(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	before := vs.Status.DeepCopy()

	// This change affects the VectorSidecar, but not its result. The marker follows in the same queue.
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Labels["team"] = "payments" })
	marker := objects.NewVectorSidecar("marker", vs.Namespace).Selecting("logs", "nothing").Build()
	world.Create(t, marker)
	harness.Until(t, world, marker, "a status", isReady)

	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	require.Equal(t, before, &vs.Status)
}
