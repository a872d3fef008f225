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

// The status names a node with an old kubelet. The sidecar stays the same, because since API server 1.33 its form does
// not depend on nodes. The operator reads nodes as a table, which needs few bytes.
func TestKubelets_ReportOldNodes(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "pool-a-1"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	world.Create(t, node)
	t.Cleanup(func() { require.NoError(t, world.Client.Delete(context.Background(), node)) })
	// The node simulator initializes a node again after each event that still shows no status. It keeps a kubelet
	// version that it finds. If the node became ready after that, the simulator has seen the version.
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

	harness.Until(t, world, vs, "the node in the message", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "kubelet v1.28.5-gke.1 of node pool-a-1 does not support")
	})
	world.Get(t, deployment)
	require.Equal(t, before, deployment.Generation, "a node rolls nothing")
	nodes, err := source.NewNodes(world.Operator)
	require.NoError(t, err)
	oldest, err := nodes.OldestKubelet(t.Context())
	require.NoError(t, err)
	require.Equal(t, "pool-a-1", oldest.Node, "the simulated nodes tell no version")
}

// Without permission to read nodes, the operator does not start, because sidecars would change after a mistake in RBAC.
func TestOperator_RequiresPermissionToReadNodes(t *testing.T) {
	config := rest.CopyConfig(world.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:vector-system:stranger", Groups: []string{"system:authenticated"}}
	err := operator.Run(t.Context(), config, vectorsidecar.FS, options, operator.Process{})
	require.ErrorContains(t, err, "listing nodes")
	require.True(t, apierrors.IsForbidden(err), err)
}
