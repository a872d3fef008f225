// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// everywhere returns a ClusterVectorSidecar with the spec of a VectorSidecar.
func everywhere(of *objects.VectorSidecar) *v1alpha1.ClusterVectorSidecar {
	sidecar := of.Build()
	return &v1alpha1.ClusterVectorSidecar{
		ObjectMeta: metav1.ObjectMeta{Name: sidecar.Name},
		Spec:       v1alpha1.ClusterVectorSidecarSpec{VectorSidecarSpec: sidecar.Spec},
	}
}

// requestedCluster returns a request that changes before, nil on creation, into after.
func requestedCluster(t *testing.T, before, after *v1alpha1.ClusterVectorSidecar) admission.Request {
	t.Helper()
	request := requested(t, before, after)
	request.Kind.Kind = kindCluster
	return request
}

// askedCluster returns the API server's answer.
func askedCluster(t *testing.T, w *world, before, after *v1alpha1.ClusterVectorSidecar) admission.Response {
	t.Helper()
	return w.handler().Handle(WithAPIServer(t.Context()), requestedCluster(t, before, after))
}

// has has the world have namespaces, NAME=ENVIRONMENT each, the oldest first.
func (w *world) has(namespaces ...string) {
	environments := map[string]string{}
	for n, one := range namespaces {
		name, environment, _ := strings.Cut(one, "=")
		environments[name] = environment
		w.namespaces = append(w.namespaces, clusterwide.Namespace{Name: name, Environment: environment, Created: metav1.NewTime(time.Unix(int64(n), 0))})
	}
	w.in = func(s *decision.Input) {
		s.NamespaceLabels = map[string]string{meta.LabelEnvironment: environments[s.Sidecar.Namespace]}
	}
}

// production has the values of the installation for the environment production end so.
func (w *world) production(t *testing.T, values string) {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	w.platform = desired.NewPlatform(chart, "ConfigMap vector-system/values", map[string]string{"production.yaml": values})
}

const brokenSink = "sidecar: {sinks: {out: {type: nothing}}}"

// The webhook checks a ClusterVectorSidecar once for each environment of the selected namespaces, not once for each
// namespace.
func TestReviewCluster_ChecksOncePerEnvironment(t *testing.T) {
	w := newWorld(t)
	w.has("try=development", "shop=production", "pay=production", "play=development")

	require.True(t, askedCluster(t, w, nil, everywhere(logs())).Allowed)
	require.EqualValues(t, 2, w.asked.Load())
}

// The webhook checks the same small number of namespaces of a ClusterVectorSidecar, however many it selects.
func TestReviewCluster_LimitsNamespaces(t *testing.T) {
	var names []string
	for n := range 300 {
		names = append(names, fmt.Sprintf("n-%03d=%s", n, []string{"development", "production"}[n%2]))
	}
	w := newWorld(t)
	w.has(names...)
	most := 0
	w.in = func(s *decision.Input) {
		for n := range mostWorkloads {
			deployment := objects.NewDeployment(fmt.Sprintf("app-%03d", n), s.Sidecar.Namespace).Labeled("logs", "vector").Build()
			s.Workloads = append(s.Workloads, workloadcache.NewRecord(deployment))
		}
	}
	good, bad := everywhere(logs()), everywhere(logs().WithInlineConfig(broken))

	for range 3 { // It is the same ones each time.
		before := w.asked.Load()
		require.True(t, askedCluster(t, w, nil, good).Allowed)
		most = max(most, int(w.asked.Load()-before))
	}
	require.Equal(t, 2, most)
	before := w.asked.Load()
	require.False(t, askedCluster(t, w, good, bad).Allowed)
	require.EqualValues(t, 2*mostNamespaces, w.asked.Load()-before, "as it would be, and as it was")
	before = w.asked.Load()
	require.False(t, w.handler().Handle(t.Context(), requestedCluster(t, good, bad)).Allowed)
	require.EqualValues(t, 3*mostNamespaces, w.asked.Load()-before, "and what of that everybody may know")
}

// The limit of checked workloads applies to all namespaces of a ClusterVectorSidecar together.
func TestReviewCluster_LimitsWorkloadsOfAllNamespaces(t *testing.T) {
	w := newWorld(t)
	w.has("a=one", "b=two", "c=three", "d=four")
	w.in = func(s *decision.Input) {
		for n := range mostWorkloads / 4 {
			deployment := objects.NewDeployment(fmt.Sprintf("app-%03d", n), s.Sidecar.Namespace).Labeled("logs", "vector").Build()
			s.Workloads = append(s.Workloads, workloadcache.NewRecord(deployment))
		}
		crowded := objects.NewDeployment("last", s.Sidecar.Namespace).Labeled("logs", "vector").Labeled("crowded", "yes").Build()
		s.Workloads = append(s.Workloads, workloadcache.NewRecord(crowded))
		s.Others = []v1alpha1.VectorSidecar{*clusterwide.NewSidecar(everywhere(objects.NewVectorSidecar("other", "").Selecting("crowded", "yes")), s.Sidecar.Namespace, true)}
	}

	answer := askedCluster(t, w, nil, everywhere(logs().InEnvironment("development")))
	require.True(t, answer.Allowed, "the conflict is in the last by name")
	w.namespaces = w.namespaces[:3]
	require.False(t, askedCluster(t, w, nil, everywhere(logs().InEnvironment("development"))).Allowed)
}

// If the error is in the ClusterVectorSidecar itself, the webhook denies it, however many namespaces it selects. The
// answer has the error once and names no namespace.
func TestReviewCluster_DeniesFaultsOfClusterVectorSidecar(t *testing.T) {
	w := newWorld(t)
	bad := everywhere(logs().WithInlineConfig(broken))
	for why, namespaces := range map[string][]string{
		"no namespace": nil,
		"one":          {"shop=production"},
		"several":      {"try=development", "shop=production", "pay=production"},
	} {
		w.namespaces, w.in = nil, nil
		w.has(namespaces...)
		answer := askedCluster(t, w, nil, bad)
		require.False(t, answer.Allowed, why)
		require.True(t, strings.HasPrefix(answer.Result.Message, "ClusterVectorSidecar logs spec.sidecar.config.inline:3:11: "), answer.Result.Message)
		require.NotContains(t, answer.Result.Message, "in namespace", why)
		require.Equal(t, 1, strings.Count(answer.Result.Message, "inline:3:11"), "once, and not for each: %s", answer.Result.Message)
	}
}

// If only one of several environments has an error, the webhook allows the ClusterVectorSidecar with a warning.
func TestReviewCluster_AllowsFaultOfOneEnvironment(t *testing.T) {
	w := newWorld(t)
	w.production(t, brokenSink)
	w.has("try=development", "shop=production", "pay=production")
	sidecar := everywhere(logs().WithLogs("/var/log/app"))

	answer := askedCluster(t, w, nil, sidecar)
	require.True(t, answer.Allowed, answer.Result)
	require.Contains(t, fmt.Sprint(answer.Warnings), "in namespace shop: rendered ConfigMap cluster-logs-vector-")
	require.Contains(t, fmt.Sprint(answer.Warnings), `sinks.out.type: unknown sink type "nothing"`)
	require.NotContains(t, fmt.Sprint(answer.Warnings), "in namespace pay", "its environment is judged in one")

	w.namespaces = w.namespaces[1:]
	answer = askedCluster(t, w, nil, sidecar)
	require.False(t, answer.Allowed, "it is right nowhere")
	require.NotContains(t, answer.Result.Message, "in namespace")
}

// If only one namespace has an error, the webhook allows the ClusterVectorSidecar with a warning, because the namespace
// may be the cause. If a second namespace has the same error, the webhook denies it.
func TestReviewCluster_AllowsFaultOfOneNamespace(t *testing.T) {
	w := newWorld(t)
	w.has("shop=development", "pay=development")
	rivals := map[string]bool{"shop": true}
	w.in = func(s *decision.Input) {
		there := s.Sidecar.Namespace
		s.Workloads = []*workloadcache.Record{workloadcache.NewRecord(objects.NewDeployment("cart", there).Labeled("logs", "vector").Build())}
		if rivals[there] {
			s.Others = []v1alpha1.VectorSidecar{*clusterwide.NewSidecar(everywhere(objects.NewVectorSidecar("other", "").Selecting("logs", "vector")), there, true)}
		}
	}

	answer := askedCluster(t, w, nil, everywhere(logs()))
	require.True(t, answer.Allowed, answer.Result)
	require.Contains(t, fmt.Sprint(answer.Warnings), `in namespace shop: Deployment shop/cart: ClusterVectorSidecar other in namespace shop also injects a container "vector"`)

	rivals["pay"] = true
	answer = askedCluster(t, w, nil, everywhere(logs()))
	require.False(t, answer.Allowed)
	require.Contains(t, answer.Result.Message, "in namespace shop: Deployment shop/cart: ")
	require.Contains(t, answer.Result.Message, "in namespace pay: Deployment pay/cart: ")
}

// If a VectorSidecar takes precedence in a namespace, the webhook does not deny the ClusterVectorSidecar for that.
func TestReviewCluster_IgnoresPrecedingVectorSidecars(t *testing.T) {
	w := newWorld(t)
	w.has("shop=development")
	w.workloads = []*workloadcache.Record{workloadcache.NewRecord(objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build())}
	w.others = []v1alpha1.VectorSidecar{*logs().Build()}

	answer := askedCluster(t, w, nil, everywhere(logs()))
	require.True(t, answer.Allowed, answer.Result)
	require.Empty(t, answer.Warnings)
}

// The webhook denies an update that adds an error, and allows one whose errors existed before.
func TestReviewCluster_DeniesUpdatesWithNewFaults(t *testing.T) {
	w := newWorld(t)
	w.has("try=development", "shop=production")
	good, bad := everywhere(logs()), everywhere(logs().WithInlineConfig(broken))
	worse := everywhere(logs().WithInlineConfig(broken).MatchingAll())

	require.False(t, askedCluster(t, w, good, bad).Allowed)
	require.True(t, askedCluster(t, w, bad, good).Allowed, "it repairs")
	answer := askedCluster(t, w, bad, worse)
	require.True(t, answer.Allowed, "the fault is old: %v", answer.Result)
	require.Contains(t, fmt.Sprint(answer.Warnings), "existed before this change: ClusterVectorSidecar logs spec.sidecar.config.inline:3:11")

	w.err = errors.New("not to be asked")
	labeled := bad.DeepCopy()
	labeled.Labels, labeled.Finalizers = map[string]string{"a": "b"}, []string{"example.com/own"}
	require.True(t, askedCluster(t, w, bad, labeled).Allowed)
	going := bad.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	require.True(t, askedCluster(t, w, good, going).Allowed)
	answer = askedCluster(t, w, nil, good)
	require.False(t, answer.Allowed)
	require.EqualValues(t, http.StatusServiceUnavailable, answer.Result.Code)
	require.Equal(t, "deciding on the admission of ClusterVectorSidecar logs: not to be asked", answer.Result.Message)
}

// An update selects another namespace. The webhook denies it for an error in the added namespace, but not for an error
// in a namespace that was selected before.
func TestReviewCluster_ChecksNewlySelectedNamespaces(t *testing.T) {
	w := newWorld(t)
	w.has("shop=development", "pay=development")
	all := w.namespaces
	w.selects = func(cluster *v1alpha1.ClusterVectorSidecar) []clusterwide.Namespace {
		if len(cluster.Spec.NamespaceSelector.MatchLabels) > 0 {
			return all[1:]
		}
		return all[:1]
	}
	w.in = func(s *decision.Input) {
		there := s.Sidecar.Namespace
		s.Workloads = []*workloadcache.Record{workloadcache.NewRecord(objects.NewDeployment("cart", there).Labeled("logs", "vector").Build())}
		if there == "pay" {
			s.Others = []v1alpha1.VectorSidecar{*clusterwide.NewSidecar(everywhere(objects.NewVectorSidecar("other", "").Selecting("logs", "vector")), there, true)}
		}
	}
	moved := func(cluster *v1alpha1.ClusterVectorSidecar) *v1alpha1.ClusterVectorSidecar {
		cluster = cluster.DeepCopy()
		cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "pay"}
		return cluster
	}
	good, bad := everywhere(logs()), everywhere(logs().WithInlineConfig(broken))

	answer := askedCluster(t, w, good, moved(good))
	require.False(t, answer.Allowed)
	require.Contains(t, answer.Result.Message, "Deployment pay/cart: ClusterVectorSidecar other")
	answer = askedCluster(t, w, bad, moved(bad))
	require.True(t, answer.Allowed, answer.Result)
	require.Contains(t, fmt.Sprint(answer.Warnings), "existed before this change: ClusterVectorSidecar logs spec.sidecar.config.inline:3:11")
}

func TestReviewCluster_DeniesInvalidNamespaceSelector(t *testing.T) {
	w := newWorld(t)
	bad := everywhere(logs())
	bad.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "not a value"}

	answer := askedCluster(t, w, nil, bad)
	require.False(t, answer.Allowed)
	require.Contains(t, answer.Result.Message, "ClusterVectorSidecar logs: spec.namespaceSelector: ")
	changed := bad.DeepCopy()
	changed.Spec.MatchAll = true
	answer = askedCluster(t, w, bad, changed)
	require.True(t, answer.Allowed, answer.Result)
	require.Contains(t, fmt.Sprint(answer.Warnings), "existed before this change: ClusterVectorSidecar logs: spec.namespaceSelector: ")
}

// If a client does not prove that it is the API server, the answer quotes no ConfigMap and names the command that shows
// the error.
func TestReviewCluster_HidesConfigMapsFromUnprovenClients(t *testing.T) {
	w := newWorld(t)
	w.production(t, "sidecar: {sinks: {out: {type: s3cret}}}")
	w.has("shop=production")
	sidecar := everywhere(logs().WithLogs("/var/log/app"))

	require.Contains(t, askedCluster(t, w, nil, sidecar).Result.Message, "s3cret")
	answer := w.handler().Handle(t.Context(), requestedCluster(t, nil, sidecar))
	require.False(t, answer.Allowed)
	require.NotContains(t, fmt.Sprint(answer), "s3cret")
	require.Contains(t, answer.Result.Message, "ClusterVectorSidecar logs: ")
	require.Contains(t, answer.Result.Message, "kubectl vectorsidecar plan -n shop --sidecar FILE")
}

// If a client does not prove that it is the API server, the answer has each error once, without the names of
// namespaces.
func TestReviewCluster_ReportsFaultOnceToUnprovenClients(t *testing.T) {
	w := newWorld(t)
	w.has("try=development", "shop=own") // That environment is only known from a ConfigMap.
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	w.platform = desired.NewPlatform(chart, "ConfigMap vector-system/values", map[string]string{"own.yaml": "sidecar: {logLevel: warn}"})

	answer := w.handler().Handle(t.Context(), requestedCluster(t, nil, everywhere(logs().WithInlineConfig(broken))))
	require.False(t, answer.Allowed)
	require.True(t, strings.HasPrefix(answer.Result.Message, "ClusterVectorSidecar logs spec.sidecar.config.inline:3:11: "), answer.Result.Message)
	require.NotContains(t, answer.Result.Message, "in namespace")
}
