// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// inhabited creates a namespace with an application that has a sidecar.
func inhabited(t *testing.T, name string) (namespace *corev1.Namespace, logs *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cart := example.NewDeployment("cart", name).Labeled("logs", "vector").Build()
	logs = example.NewVectorSidecar("logs", name).Selecting("logs", "vector").Build()
	world.Create(t, namespace, cart, logs)
	harness.Until(t, world, cart, "the sidecar", hasSidecar)
	harness.Until(t, world, logs, "the finalizer", func(vs *v1alpha1.VectorSidecar) bool { return slices.Contains(vs.Finalizers, meta.Finalizer) })
	return namespace, logs
}

// awaitGone waits until a namespace is gone.
func awaitGone(t *testing.T, namespace *corev1.Namespace) {
	t.Helper()
	harness.Eventually(t, "namespace "+namespace.Name+" to be gone", func() bool {
		return apierrors.IsNotFound(cluster.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace))
	})
}

// The namespace controller may delete Deployments, but not patch them. It can delete a namespace with VectorSidecars
// although users need permission to patch Deployments for that.
func TestVectorSidecar_AllowsNamespaceDeletion(t *testing.T) {
	i := installed(t, chartDir, "--set", "leaderElection.leaseDurationSeconds=3,leaderElection.renewDeadlineSeconds=2,leaderElection.retryPeriodSeconds=1")

	stranger := newUserClient(t, "stranger", "shop", mayWrite)
	harness.Eventually(t, "an effective policy", func() bool {
		err := stranger.Create(t.Context(), example.NewVectorSidecar("logs", "shop").Selecting("a", "b").Build(), client.DryRunAll)
		return apierrors.IsForbidden(err)
	})

	t.Run("while the operator runs", func(t *testing.T) {
		namespace, _ := inhabited(t, "leaving")
		require.NoError(t, cluster.Delete(t.Context(), namespace))
		awaitGone(t, namespace)
	})
	t.Run("while it does not, once it does again", func(t *testing.T) {
		namespace, logs := inhabited(t, "left")
		i.end(syscall.SIGKILL)
		require.NoError(t, cluster.Delete(t.Context(), namespace))
		harness.Until(t, world, logs, "its deletion to begin", func(vs *v1alpha1.VectorSidecar) bool { return vs.DeletionTimestamp != nil })
		i.restarted(t)
		awaitGone(t, namespace)
	})
}

// With namespaceOverride, no object, rule or subject names the namespace of the release.
func TestChart_RendersAllObjectsInNamespaceOverride(t *testing.T) {
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
namespaceOverride: shop
admissionInjection: {enabled: true}
admissionWebhook: {enabled: true}
preflight: {enabled: true}
networkPolicy: {enabled: true, webhookFrom: anywhere}
podDisruptionBudget: {enabled: true}
replicas: 2
monitoring: {enabled: true, prometheus: {namespace: monitoring, serviceAccountName: prometheus}}
metrics: {certificate: {source: certManager, issuerRef: {name: ca}}}
templates: {gateway: {NOTES.txt: x}}
`), &values))
	files := render(t, load(t), values, monitoringKinds...)
	namespaced := 0
	for _, object := range objects(t, join(files)) {
		if object.GetNamespace() != "" {
			namespaced++
			require.Equal(t, "shop", object.GetNamespace(), "%s %s", object.GetKind(), object.GetName())
		}
	}
	require.Greater(t, namespaced, 15)
	for file, text := range without(files, notes) {
		require.NotContains(t, text, namespace, file)
	}
	require.Contains(t, files[notes], "deployment/"+fullname+" -n shop")
	require.Contains(t, files[notes], "helm test "+release+" -n "+namespace)
}
