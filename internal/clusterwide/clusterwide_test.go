// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clusterwide

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

func namespace(name string, change ...func(*metav1.ObjectMeta)) *metav1.ObjectMeta {
	made := &metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name, "team": "a"}}
	for _, one := range change {
		one(made)
	}
	return made
}

func named(operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: corev1.LabelMetadataName, Operator: operator, Values: values}}}
}

func TestSelector_SelectsNamespacesByLabels(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	labeled := func(value string) func(*metav1.ObjectMeta) {
		return func(m *metav1.ObjectMeta) { m.Labels[meta.AnnotationInject] = value }
	}
	team := metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	for name, test := range map[string]struct {
		selector  metav1.LabelSelector
		namespace *metav1.ObjectMeta
		want      bool
	}{
		"one with the label":             {team, namespace("shop"), true},
		"one with another":               {metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}, namespace("shop"), false},
		"all":                            {metav1.LabelSelector{}, namespace("shop"), true},
		"Kubernetes' own":                {metav1.LabelSelector{}, namespace("kube-system"), false},
		"Kubernetes' own, by its label":  {team, namespace("kube-public"), false},
		"Kubernetes' own, named":         {named(metav1.LabelSelectorOpIn, "kube-system"), namespace("kube-system"), true},
		"Kubernetes' own, named for out": {named(metav1.LabelSelectorOpNotIn, "shop"), namespace("kube-system"), false},
		"the operator's":                 {metav1.LabelSelector{}, namespace("vector-system"), false},
		"the operator's, named":          {metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "vector-system"}}, namespace("vector-system"), true},
		"one that opted out by a label":  {team, namespace("shop", labeled("false")), false},
		"one that opted in":              {team, namespace("shop", labeled("true")), true},
		"one that opted out by an annotation": {team, namespace("shop", func(m *metav1.ObjectMeta) {
			m.Annotations = map[string]string{meta.AnnotationInject: "no"}
		}), false},
		"one that is being deleted": {team, namespace("shop", func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &now }), false},
	} {
		t.Run(name, func(t *testing.T) {
			selector, err := NewSelector(&v1alpha1.ClusterVectorSidecarSpec{NamespaceSelector: test.selector}, "vector-system")
			require.NoError(t, err)
			require.Equal(t, test.want, selector.Selects(test.namespace))
		})
	}
}

// Objects that two ClusterVectorSidecars create in one namespace have different names.
func TestNewSidecar_UsesUniqueObjectNames(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs"}}
	made := NewSidecar(cluster, "shop", true)
	require.Equal(t, "clustervectorsidecar/logs", made.Name)
	require.Equal(t, "clustervectorsidecar/logs", meta.Manager(made.Name), "frozen: another one leaves what is injected behind")
	require.Equal(t, "cluster_logs", meta.LabelValue(made.Name), "frozen, too")
	require.Equal(t, meta.Group+"/injected-items.cluster_logs", meta.AnnotationInjectedItems(meta.Manager(made.Name)))
	require.Equal(t, made.Name, meta.SidecarName(meta.Manager(made.Name)))
	require.True(t, meta.IsManager(meta.Manager(made.Name)))
	require.LessOrEqual(t, len(meta.Manager(meta.ClusterSidecarName(strings.Repeat("n", 253)))), 128)
	require.Equal(t, "ClusterVectorSidecar logs in namespace shop", desired.Describe(made))
}

// In a namespace that is no longer selected, the sidecars are removed also with deletionPolicy Orphan, because the
// ClusterVectorSidecar itself is not deleted.
func TestNewSidecar_IgnoresOrphanPolicyInUnselectedNamespace(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs"}}
	cluster.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	made := NewSidecar(cluster, "shop", false)
	require.NotNil(t, made.DeletionTimestamp)
	require.False(t, made.Orphans(), "the ClusterVectorSidecar is not deleted, so its policy for that says nothing")
	require.Nil(t, cluster.DeletionTimestamp)
}

// If the selector is invalid, the selected namespaces are not known, so no sidecar is removed.
func TestNewSelector_KeepsSidecarsIfInvalid(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{}
	cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "not a label"}
	selector, err := NewSelector(&cluster.Spec, "")
	require.ErrorContains(t, err, "spec.namespaceSelector")
	require.False(t, selector.Selects(&metav1.ObjectMeta{Name: "shop", Labels: cluster.Spec.NamespaceSelector.MatchLabels}))

	made := selector.NewSidecar(cluster, "shop", false)

	require.Nil(t, made.DeletionTimestamp)
	require.Equal(t, err.Error(), NewParentScope(cluster).Invalid)
}

// The cached copy of a ClusterVectorSidecar that is too large lacks the sidecar's spec. Each namespace still reports
// the reason TooLarge.
func TestTruncateOversized_KeepsReasonTooLarge(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs", Finalizers: []string{meta.Finalizer}}}
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{Config: &v1alpha1.ConfigSpec{Inline: strings.Repeat("x", 800<<10)}}
	cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "a"}

	reduced := TruncateOversized(cluster)

	require.Nil(t, reduced.Spec.Sidecar)
	require.Equal(t, cluster.Spec.NamespaceSelector, reduced.Spec.NamespaceSelector)
	require.Equal(t, cluster.Finalizers, reduced.Finalizers)
	invalid := desired.TooLarge(NewSidecar(reduced, "shop", true))
	require.NotNil(t, invalid)
	require.Equal(t, meta.ReasonTooLarge, invalid.Reason)
	require.Equal(t, reduced, TruncateOversized(reduced))
}

// After a restart, the retry and the finished canaries of a namespace are restored from the status.
func TestNewSidecar_RestoresRetryAndFinishedCanaries(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{}
	cluster.Status.Retry = &v1alpha1.RetryStatus{Requested: "now"}
	cluster.Status.FinishedCanaries = []v1alpha1.FinishedCanary{{Namespace: "basket", Change: "b"}, {Namespace: "shop", Change: "s"}}
	for namespace, want := range map[string]*v1alpha1.CanaryStatus{
		"basket": {Change: "b", State: v1alpha1.CanaryFinished},
		"shop":   {Change: "s", State: v1alpha1.CanaryFinished},
		"other":  nil,
	} {
		is := NewSidecar(cluster, namespace, true).Status
		require.Equal(t, want, is.Canary, namespace)
		require.Equal(t, cluster.Status.Retry, is.Retry, namespace)
	}
}
