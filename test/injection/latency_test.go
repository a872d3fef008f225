// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// most is how many overlays a namespace has at most.
const most = 100

// What a create takes, without the policies and with them, and that the operator injects where somebody has
// deleted them. It runs alone.
func TestWhatACreateTakes(t *testing.T) {
	binding := &admissionv1.MutatingAdmissionPolicyBinding{}
	key := client.ObjectKey{Name: harness.AccountNamespace + "." + harness.Account + ".deployments"}
	require.NoError(t, world.Client.Get(t.Context(), key, binding))

	matched := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", matched).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	isOffered(t, vs)
	crowd := world.Namespace(t)
	last := fill(t, crowd, 50)
	full := world.Namespace(t)
	lastOfFull := fill(t, full, most)
	label := func(name, namespace, value string) func(int) *objects.Deployment {
		return func(i int) *objects.Deployment {
			return objects.NewDeployment(fmt.Sprintf("%s-%d", name, i), namespace).Labelled("logs", value).WithReplicas(0)
		}
	}
	untilActive(t, label("any", crowd, last)(0).Build(), last)
	untilActive(t, label("any", full, lastOfFull)(0).Build(), lastOfFull)
	t.Logf("the sidecar of the last of %d VectorSidecars is put in: the cost is within the API server's limits", most)

	world.Delete(t, binding)
	trial := label("off", matched, "vector")(0).Build()
	harness.Eventually(t, "the policy to be off", func() bool {
		one := trial.DeepCopy()
		return world.Client.Create(t.Context(), one, client.DryRunAll) == nil && !has(one, "vector")
	})
	alone := objects.NewDeployment("alone", matched).Labelled("logs", "vector").WithReplicas(0).Build()
	world.Create(t, alone)
	require.False(t, has(alone, "vector"))
	harness.Until(t, world, alone, "the operator to inject it", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) && has(d, "vector") })
	require.NotContains(t, alone.Annotations[meta.AnnotationChangeCause], "the API server")
	none := measure(t, label("none", world.Namespace(t), "vector"))
	again := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: binding.ObjectMeta, Spec: binding.Spec}
	again.ResourceVersion, again.UID = "", ""
	world.Create(t, again)
	untilActive(t, trial, "vector")

	cases := []struct {
		what   string
		create func(int) *objects.Deployment
	}{
		{"a namespace without an OverlaySet", label("bare", world.Namespace(t), "vector")},
		{"a VectorSidecar that does not match", label("other", matched, "fluent")},
		{"a VectorSidecar that matches", label("one", matched, "vector")},
		{"50 VectorSidecars, none of which matches", label("miss", crowd, "fluent")},
		{"50 VectorSidecars, one of which matches", label("hit", crowd, last)},
		{"100 VectorSidecars, one of which matches", label("hit", full, lastOfFull)},
	}
	all := make([][]time.Duration, len(cases))
	for i := range creates {
		for n := range cases {
			all[n] = append(all[n], create(t, cases[n].create(i)))
		}
	}
	for n := range cases {
		took := latencyOf(all[n])
		t.Logf("%s: p50 %s, p99 %s (without the policies %s, %s)", cases[n].what, took.p50, took.p99, none.p50, none.p99)
		require.Less(t, took.p50, none.p50+100*time.Millisecond)
	}
}

// fill makes VectorSidecars, each with a container and a label of its own, and returns that of the last.
func fill(t *testing.T, namespace string, count int) string {
	t.Helper()
	name, vs := "", &v1alpha1.VectorSidecar{}
	for i := range count {
		name = fmt.Sprintf("vector-%03d", i)
		vs = objects.NewVectorSidecar(name, namespace).Selecting("logs", name).Named(name).Build()
		world.Create(t, vs)
	}
	isOffered(t, vs)
	return name
}

// latency is of creates, one after the other.
type latency struct{ p50, p99 time.Duration }

// creates is how many are measured.
const creates = 200

func measure(t *testing.T, of func(int) *objects.Deployment) latency {
	t.Helper()
	var all []time.Duration
	for i := range creates {
		all = append(all, create(t, of(i)))
	}
	return latencyOf(all)
}

// create is how long a create takes that is not stored, so that nobody reacts to it.
func create(t *testing.T, of *objects.Deployment) time.Duration {
	t.Helper()
	object, start := of.Build(), time.Now()
	require.NoError(t, world.Client.Create(t.Context(), object, client.DryRunAll))
	return time.Since(start)
}

func latencyOf(all []time.Duration) latency {
	all = slices.Clone(all[len(all)/10:]) // Without the first ones.
	slices.Sort(all)
	return latency{all[len(all)/2].Round(100 * time.Microsecond), all[len(all)*99/100].Round(100 * time.Microsecond)}
}
