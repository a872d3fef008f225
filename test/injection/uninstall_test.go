// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// When an application is uninstalled, its workload and pods are deleted and the OverlaySet stays. When it is
// installed again, the API server injects the sidecar in generation 1.
func TestOverlaySet_AllowsUninstallOfApplication(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*testing.T, deployer) (string, *appsv1.Deployment, *v1alpha1.VectorSidecar){
		"with a sidecar":            settled,
		"whose containers are told": informed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, deployment, vs := made(t, byHelm)
			before := names(deployment)
			set := awaitOverlay(t, vs)

			helm(t, namespace, "uninstall", "shop", "--wait")
			require.NoError(t, client.IgnoreNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(deployment), &appsv1.Deployment{})))
			harness.Eventually(t, "no pod and no ReplicaSet", func() bool {
				var pods corev1.PodList
				require.NoError(t, world.Client.List(t.Context(), &pods, client.InNamespace(namespace)))
				return len(pods.Items) == 0 && revisions(t, namespace) == 0
			})
			harness.Until(t, world, vs, "no matched workload", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.MatchedDeployments == 0 })
			require.Equal(t, set.Spec, awaitOverlay(t, vs).Spec, "for whoever comes next")

			byHelm(t, namespace, manifest("app:2", own))
			world.Get(t, deployment)
			require.Equal(t, before, names(deployment))
			harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(vs.Name)(d) })
			require.EqualValues(t, 1, deployment.Generation)
		})
	}
}
