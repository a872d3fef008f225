// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// most is the maximum number of overlays in a namespace.
const most = 100

// The median latency of a create with the policies is less than 30 times that with a webhook. While the policies are
// deleted, the operator injects the sidecar itself. The test is not parallel, because it measures time.
func TestOverlaySet_LimitsLatencyOfCreate(t *testing.T) {
	matched := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", matched).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	crowd, full, tell, tellFull := world.Namespace(t), world.Namespace(t), world.Namespace(t), world.Namespace(t)
	last, lastOfFull := fill(t, crowd, 50, requestMetricsOnly), fill(t, full, most, requestMetricsOnly)
	lastTelling, lastOfFullTelling := fill(t, tell, 50, injectAllVariables), fill(t, tellFull, most, injectOneVariable)
	label := func(name, namespace, value string) func(int) *objects.Deployment {
		return func(i int) *objects.Deployment {
			return objects.NewDeployment(fmt.Sprintf("%s-%d", name, i), namespace).Labeled("logs", value).WithReplicas(0)
		}
	}
	untilActive(t, label("any", crowd, last)(0).Build(), last)
	untilActive(t, label("any", full, lastOfFull)(0).Build(), lastOfFull)
	untilActive(t, label("any", tell, lastTelling)(0).Build(), lastTelling)
	untilActive(t, label("any", tellFull, lastOfFullTelling)(0).Build(), lastOfFullTelling)
	t.Logf("the sidecar of the last of %d VectorSidecars is put in, also where all of them tell: the cost is within the API server's limits", most)

	none, hook := withoutPolicies(t, matched, label)
	cases := []struct {
		what       string
		create     func(int) *objects.Deployment
		isSelected bool
	}{
		{"a namespace without an OverlaySet", label("bare", world.Namespace(t), "vector"), false},
		{"a VectorSidecar that does not match", label("other", matched, "fluent"), false},
		{"a VectorSidecar that matches", label("one", matched, "vector"), true},
		{"50 VectorSidecars, none of which matches", label("miss", crowd, "fluent"), false},
		{"50 VectorSidecars, one of which matches", label("hit", crowd, last), true},
		{"100 VectorSidecars, one of which matches", label("hit", full, lastOfFull), true},
		{"50 VectorSidecars that tell, one of which matches", label("tell", tell, lastTelling), true},
		{"100 VectorSidecars that tell of one address, one of which matches", label("tell", tellFull, lastOfFullTelling), true},
	}
	var all []func(int) *objects.Deployment
	for n := range cases {
		all = append(all, cases[n].create)
	}
	began := time.Now()
	took := alternate(t, all...)
	asked := slices.DeleteFunc(requestsOf(running), func(r harness.Request) bool { return r.At.Before(began) })
	require.Empty(t, asked, "with more than 300 VectorSidecars that are as they should be, the operator asks for nothing")
	t.Logf("without the policies: p50 %s, p99 %s; with a webhook instead: p50 %s, p99 %s", none.p50, none.p99, hook.p50, hook.p99)
	for n := range cases {
		t.Logf("%s: p50 %s, p99 %s; %.1f of without, %.1f of a webhook", cases[n].what, took[n].p50, took[n].p99,
			float64(took[n].p50)/float64(none.p50), float64(took[n].p50)/float64(hook.p50))
		if n > 0 { // In the first there is nothing to evaluate.
			cost := costOf(t, cases[n].create(creates).Build())
			t.Logf("%s: %s", cases[n].what, cost)
			require.Equal(t, cases[n].isSelected, cost.matches, "what gets nothing is not mutated")
		}
		require.Less(t, took[n].p50, 30*hook.p50)
	}
}

// withoutPolicies measures creates without the policies, and then with a webhook that adds a container instead. The
// operator injects the sidecar during that time.
func withoutPolicies(t *testing.T, matched string, label func(name, namespace, value string) func(int) *objects.Deployment) (none, hook latency) {
	t.Helper()
	binding := &admissionv1.MutatingAdmissionPolicyBinding{}
	key := client.ObjectKey{Name: harness.AccountNamespace + "." + harness.Account + ".deployments"}
	require.NoError(t, world.Client.Get(t.Context(), key, binding))
	world.Delete(t, binding)
	trial := label("off", matched, "vector")(0).Build()
	harness.Eventually(t, "an inactive policy", func() bool {
		one := trial.DeepCopy()
		return world.Client.Create(t.Context(), one, client.DryRunAll) == nil && !has(one, "vector")
	})
	before := objects.NewDeployment("before", matched).Labeled("logs", "vector").WithReplicas(0).Build()
	world.Create(t, before)
	require.False(t, has(before, "vector"))
	harness.Until(t, world, before, "the injection by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) && has(d, "vector") })
	require.NotContains(t, before.Annotations[meta.AnnotationChangeCause], "the API server")
	hooked := world.Namespace(t)
	webhook(t, hooked)
	untilActive(t, label("any", hooked, "vector")(0).Build(), "hooked")
	took := alternate(t, label("none", world.Namespace(t), "vector"), label("hooked", hooked, "vector"))
	again := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: binding.ObjectMeta, Spec: binding.Spec}
	again.ResourceVersion, again.UID = "", ""
	world.Create(t, again)
	untilActive(t, trial, "vector")
	return took[0], took[1]
}

// requestsOf returns the requests of an operator, except its periodic checks for admission injection and for the kind
// Rollout.
func requestsOf(o *harness.Operator) []harness.Request {
	return slices.DeleteFunc(append(o.Requests.Writes(""), o.Requests.Reads("")...), func(r harness.Request) bool {
		return strings.HasPrefix(r.Path, "/apis/admissionregistration.k8s.io") || r.Path == "/apis/argoproj.io/v1alpha1"
	})
}

// requestMetricsOnly requests metrics only. tellsOne injects one environment variable, and tells injects variables for all
// listening addresses.
func requestMetricsOnly(*v1alpha1.SidecarSpec) {}

func injectOneVariable(s *v1alpha1.SidecarSpec) {
	s.Socket = &v1alpha1.SocketSpec{Enabled: ptr.To(true)}
	s.ApplicationEnv = &v1alpha1.ApplicationEnvSpec{Socket: ptr.To("LOG_ADDRESS")}
}

func injectAllVariables(s *v1alpha1.SidecarSpec) {
	s.OTLP = &v1alpha1.OTLPSpec{Enabled: ptr.To(true)}
	s.Socket = &v1alpha1.SocketSpec{Enabled: ptr.To(true)}
	s.ApplicationEnv = &v1alpha1.ApplicationEnvSpec{OTLP: ptr.To("grpc"), Socket: ptr.To("LOG_ADDRESS")}
}

// fill creates VectorSidecars, each with its own container name and label, and returns the label of the last one.
func fill(t *testing.T, namespace string, count int, of func(*v1alpha1.SidecarSpec)) string {
	t.Helper()
	name, vs := "", &v1alpha1.VectorSidecar{}
	before := time.Now()
	for i := range count {
		name = fmt.Sprintf("vector-%03d", i)
		vs = objects.NewVectorSidecar(name, namespace).Selecting("logs", name).Sidecar(func(s *v1alpha1.SidecarSpec) { s.Name = name; of(s) }).Build()
		world.Create(t, vs)
	}
	awaitOverlay(t, vs)
	took, writes := time.Since(before), len(running.Requests.Writes("/namespaces/"+namespace+"/overlaysets"))
	t.Logf("the OverlaySet of %d VectorSidecars, made within %s, was written %d times", count, took.Round(100*time.Millisecond), writes)
	require.LessOrEqual(t, writes, 12+int(took/time.Second), "each of the first ones, and then once a second")
	return name
}

// latency has percentiles of creates that are sent one after another.
type latency struct{ p50, p99 time.Duration }

// creates is the number of measured creates.
const creates = 200

// alternate measures the cases in turns, so that other load on the machine affects all of them.
func alternate(t *testing.T, of ...func(int) *objects.Deployment) []latency {
	t.Helper()
	all := make([][]time.Duration, len(of))
	for i := range creates {
		for n := range of {
			all[n] = append(all[n], create(t, of[n](i)))
		}
	}
	found := make([]latency, len(of))
	for n := range all {
		found[n] = latencyOf(all[n])
	}
	return found
}

// create returns the time of a create as a dry run, so that no controller reacts to the object.
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
