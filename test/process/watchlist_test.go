// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Without WatchList, as in older versions of Kubernetes, the operator reads existing objects from pages of lists. It injects
// into workloads that are older than its process, and removes their sidecars after another start.
func TestOperator_ManagesExistingWorkloadsWithoutWatchList(t *testing.T) {
	old := controlplane.ForTest(t, controlplane.Options{FeatureGates: map[string]bool{"WatchList": false}})
	cluster, err := harness.NewWorld(old.Config())
	require.NoError(t, err)
	cluster.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}})
	namespace := cluster.Namespace(t)
	kinds := []v1alpha1.WorkloadKind{"Deployment", "StatefulSet", "DaemonSet", "CronJob"}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(kinds...).WithMaxConcurrent("100%").Build()
	cluster.Create(t, vs)
	for _, kind := range kinds {
		cluster.Create(t, objects.NewWorkload(string(kind), "app", namespace, map[string]string{"logs": "vector"}))
	}
	startOld := func() *harness.Process {
		return harness.StartProcess(t, program, old.Kubeconfig(), harness.Settings{
			Arguments: []string{"--namespace=" + own, "--workload-kinds=Deployment,StatefulSet,DaemonSet,CronJob"},
		})
	}
	first := startOld()
	harness.Until(t, cluster, vs, "the sidecars", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedWorkloads == 4 })
	first.Kill()
	cluster.Delete(t, vs)
	startOld()
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	})
	deployment := &appsv1.Deployment{}
	require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "app"}, deployment))
	require.False(t, isInjected(deployment))
}
