// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// What the API server tells of nodes is the table that people see; what a kubelet tells
// would take many times the bytes. The sidecar stays as it is, because from API server 1.33
// on a node decides nothing.
func TestKubelets_ReportsOldNodes(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "pool-a-1"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	world.Create(t, node)
	t.Cleanup(func() { require.NoError(t, world.Client.Delete(context.Background(), node)) })
	// Who simulates it initializes it again from any event that still shows it without a status. It keeps a version
	// that it finds: only a node that it has made ready since then has got that from an event that shows the version.
	old := client.RawPatch(types.StrategicMergePatchType, []byte(`{"status":{"nodeInfo":{"kubeletVersion":"v1.28.5-gke.1"},"conditions":[{"type":"Ready","status":"False"}]}}`))
	harness.Until(t, world, node, "a node with an old kubelet to be simulated", func(node *corev1.Node) bool {
		if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			return false
		}
		if node.Status.NodeInfo.KubeletVersion == "v1.28.5-gke.1" {
			return true
		}
		require.NoError(t, world.Client.Status().Patch(t.Context(), node.DeepCopy(), old))
		return false
	})
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "a sidecar", isUpToDate)
	world.Get(t, deployment)
	before := deployment.Generation
	require.NoError(t, running.Stop())
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
	})
	running = world.RunOperator(options)

	harness.Until(t, world, vs, "the node to be named", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "kubelet v1.28.5-gke.1 of node pool-a-1 does not know")
	})
	world.Get(t, deployment)
	require.Equal(t, before, deployment.Generation, "a node rolls nothing")
	nodes, err := source.NewNodes(world.Operator)
	require.NoError(t, err)
	oldest, err := nodes.OldestKubelet(t.Context())
	require.NoError(t, err)
	require.Equal(t, "pool-a-1", oldest.Node, "the simulated nodes tell no version")
}

// To go on without would change sidecars when the right is taken away by mistake.
func TestOperator_RequiresPermissionToReadNodes(t *testing.T) {
	config := rest.CopyConfig(world.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:vector-system:stranger", Groups: []string{"system:authenticated"}}
	err := operator.Run(t.Context(), config, vectorsidecar.FS, options, operator.Process{})
	require.ErrorContains(t, err, "listing nodes")
	require.True(t, apierrors.IsForbidden(err), err)
}
