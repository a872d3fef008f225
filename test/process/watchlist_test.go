// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The operator injects into workloads that are older than its process, and removes their sidecars after another start. The
// API server does not have WatchList.
func TestOperator_ManagesExistingWorkloadsWithoutWatchList(t *testing.T) {
	namespace := world.Namespace(t)
	kinds := []v1alpha1.WorkloadKind{"Deployment", "StatefulSet", "DaemonSet", "CronJob"}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(kinds...).WithMaxConcurrent("100%").Build()
	world.Create(t, vs)
	for _, kind := range kinds {
		world.Create(t, objects.NewWorkload(string(kind), "app", namespace, map[string]string{"logs": "vector"}))
	}
	settings := harness.Settings{Arguments: []string{"--workload-kinds=Deployment,StatefulSet,DaemonSet,CronJob"}}
	first := start(t, settings)
	harness.Until(t, world, vs, "the sidecars", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedWorkloads == 4 })
	first.Kill()
	world.Delete(t, vs)
	start(t, settings)
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	})
	deployment := &appsv1.Deployment{}
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "app"}, deployment))
	require.False(t, isInjected(deployment))
}
