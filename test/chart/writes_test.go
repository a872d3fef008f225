// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// With the value writes: Stopped, the operator reports what it would inject, and writes neither workloads nor
// companions. After an upgrade with writes: Enabled, it writes them.
func TestInstallation_StopsWritesByValue(t *testing.T) {
	installed(t, chartDir, "--set", "writes=Stopped")
	deployment := example.NewDeployment("stopped", "shop").WithReplicas(0).Labeled("logs", "stopped").Build()
	sidecar := example.NewVectorSidecar("stopped", "shop").Selecting("logs", "stopped").Build()
	world.Create(t, deployment, sidecar)
	harness.Until(t, world, sidecar, "the report", func(vs *v1alpha1.VectorSidecar) bool {
		ready := apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionReady)
		return vs.Status.Total().Waiting == 1 && ready != nil && ready.Reason == meta.ReasonWritesStopped
	})
	ready := apimeta.FindStatusCondition(sidecar.Status.Conditions, meta.ConditionReady)
	require.Contains(t, ready.Message, "the value writes of the installation is Stopped")
	companions := func() []corev1.ConfigMap {
		var all corev1.ConfigMapList
		require.NoError(t, cluster.List(t.Context(), &all, client.InNamespace("shop"), client.HasLabels{meta.LabelSidecar}))
		return all.Items
	}
	require.Empty(t, companions())
	world.Get(t, deployment)
	require.EqualValues(t, 1, deployment.Generation, "the workload is not written")
	require.False(t, slices.ContainsFunc(deployment.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(entry.Manager, "vectorsidecar")
	}))

	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", "writes=Enabled")
	harness.Until(t, world, deployment, "the sidecar", func(d *appsv1.Deployment) bool {
		return len(d.Spec.Template.Spec.InitContainers) == 1
	})
	require.NotEmpty(t, companions())
}
