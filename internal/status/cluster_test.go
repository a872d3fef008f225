// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// While a spec is reverted, the ClusterVectorSidecar is not Ready. When all namespaces have reverted, it is Stalled,
// because a user must act.
func TestNewClusterStatus_ReportsRevertedSpec(t *testing.T) {
	back, before := lastgood.Attempt{Generation: -3}, lastgood.Attempt{Generation: 3}
	in := func(trial lastgood.Attempt, plans ...plan.Plan) *lastgood.NamespaceStatus {
		return &lastgood.NamespaceStatus{VectorSidecarStatus: NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(plans...)}, noon), Trial: trial}
	}
	well, stalledIn := in(back, planned("cart", plan.None)), in(back, planned("cart", plan.None, nothingWanted, stops(plan.BlockedByConflict, meta.ReasonConflict, "taken")))
	for name, test := range map[string]struct {
		namespaces map[string]*lastgood.NamespaceStatus
		unseen     int
		isStalled  bool
		message    string
	}{
		"all are back":         {map[string]*lastgood.NamespaceStatus{"a": well, "b": well}, 0, true, "2 of 2 Deployments in 2 namespaces run the current sidecar"},
		"one is on its way":    {map[string]*lastgood.NamespaceStatus{"a": well, "b": in(before, planned("cart", plan.None))}, 0, false, "1 of 2 namespaces are in progress"},
		"one is in trouble":    {map[string]*lastgood.NamespaceStatus{"a": well, "b": stalledIn}, 0, true, "1 of 2 namespaces are stalled"},
		"both are":             {map[string]*lastgood.NamespaceStatus{"a": stalledIn, "b": in(before, planned("cart", plan.None))}, 0, false, "1 of 2 namespaces are stalled"},
		"one is not looked at": {map[string]*lastgood.NamespaceStatus{"a": well}, 1, false, "1 of 2 namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs", Generation: 3}}
			own := gone()
			own.Reverted.Namespace = "shop"
			got := NewClusterStatus(ClusterFacts{Cluster: cluster, Namespaces: test.namespaces, UnreportedNamespaces: test.unseen, Trial: back, SpecStatus: own}, noon)
			ready := apimeta.FindStatusCondition(got.Conditions, meta.ConditionReady)
			require.Equal(t, meta.ReasonReverted, ready.Reason)
			require.Equal(t, metav1.ConditionFalse, ready.Status)
			require.Contains(t, ready.Message, "of namespace shop")
			require.Contains(t, ready.Message, test.message)
			require.Equal(t, test.isStalled, apimeta.IsStatusConditionTrue(got.Conditions, meta.ConditionStalled))
			require.Equal(t, own.Reverted, got.Reverted)
			require.Equal(t, own.LastGood, got.LastKnownGood)
		})
	}
}

// A spec is too large to be stored as the last known good one. The status reports it.
func TestNewClusterStatus_ReportsSpecTooLargeToStore(t *testing.T) {
	of := &lastgood.NamespaceStatus{VectorSidecarStatus: NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None))}, noon)}
	got := NewClusterStatus(ClusterFacts{Cluster: &v1alpha1.ClusterVectorSidecar{}, Namespaces: map[string]*lastgood.NamespaceStatus{"a": of}, SpecStatus: lastgood.SpecStatus{IsTooLarge: true}}, noon)
	ready := apimeta.FindStatusCondition(got.Conditions, meta.ConditionReady)
	require.Equal(t, metav1.ConditionTrue, ready.Status)
	require.Contains(t, ready.Message, "the spec has more than 256 KiB")
}

// Several namespaces report when they handled a retry, in any order. The status has the earliest time.
func TestNewClusterStatus_KeepsTimeOfFirstRetry(t *testing.T) {
	asked := func(value string) string {
		return fleet.RetryDigest(map[string]string{meta.AnnotationRetryRollout: value})
	}
	retry := func(value string, after time.Duration) *v1alpha1.RetryStatus {
		return &v1alpha1.RetryStatus{Requested: asked(value), RetryTime: metav1.NewTime(noon.Add(after))}
	}
	for name, test := range map[string]struct {
		annotation string
		before     *v1alpha1.RetryStatus
		reported   map[string]*v1alpha1.RetryStatus
		want       *v1alpha1.RetryStatus
	}{
		"none":                      {"", nil, map[string]*v1alpha1.RetryStatus{"a": nil}, nil},
		"the first of two":          {"now", nil, map[string]*v1alpha1.RetryStatus{"a": retry("now", 2*time.Second), "b": retry("now", time.Second)}, retry("now", time.Second)},
		"it is stored":              {"now", retry("now", time.Second), map[string]*v1alpha1.RetryStatus{"a": retry("now", time.Minute)}, retry("now", time.Second)},
		"nobody has seen it":        {"now", nil, map[string]*v1alpha1.RetryStatus{"a": nil, "b": retry("before", 0)}, nil},
		"another is stored":         {"now", retry("before", 0), map[string]*v1alpha1.RetryStatus{"a": retry("now", time.Second)}, retry("now", time.Second)},
		"it is not requested again": {"", retry("now", time.Second), map[string]*v1alpha1.RetryStatus{"a": nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, namespaces := &v1alpha1.ClusterVectorSidecar{}, map[string]*lastgood.NamespaceStatus{}
			if cluster.Status.Retry = test.before; test.annotation != "" {
				cluster.Annotations = map[string]string{meta.AnnotationRetryRollout: test.annotation}
			}
			for namespace, is := range test.reported {
				namespaces[namespace] = &lastgood.NamespaceStatus{VectorSidecarStatus: v1alpha1.VectorSidecarStatus{Retry: is}}
			}
			require.Equal(t, test.want, NewClusterStatus(ClusterFacts{Cluster: cluster, Namespaces: namespaces}, noon).Retry)
		})
	}
}
