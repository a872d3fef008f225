// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The Services of a cluster have IPv6 addresses. The operator reads the address of the API server, the plugin reads a
// Service, and both render the same sidecar. The test has its own API server.
func TestIPFamily_FollowsCluster(t *testing.T) {
	address, err := freeport.Address("::1")
	if err != nil {
		t.Skipf("the machine has no IPv6: %v", err)
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), Address: address, APIServerArgs: map[string]string{
		"service-cluster-ip-range": "fd00:10::/112", "endpoint-reconciler-type": "none",
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plane.Stop()) })
	six, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	vs := objects.NewVectorSidecar("logs", "default").Selecting("logs", "vector").Build()
	six.Create(t, objects.NewDeployment("cart", "default").Labeled("logs", "vector").Build(), vs)

	var out, notes bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &notes}
	arguments := []string{"render", "cart", "--kubeconfig", plane.Kubeconfig(), "-n", "default"}
	require.Zero(t, cli.Run(t.Context(), arguments, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test"), &notes)
	require.Contains(t, out.String(), "address: '[::]:9598'")
	require.Contains(t, out.String(), "address: '[::1]:8686'")
	require.NotContains(t, notes.String(), "IP family")

	six.StartOperator(t, operator.Options{Namespace: "vector-system", WorkloadKinds: objects.WorkloadKinds})
	harness.Until(t, six, vs, "the sidecar", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedDeployments == 1 })
	var companions corev1.ConfigMapList
	require.NoError(t, six.Client.List(t.Context(), &companions, client.InNamespace("default"), client.HasLabels{meta.LabelSidecar}))
	require.Len(t, companions.Items, 1)
	require.Contains(t, out.String(), companions.Items[0].Name, "operator and preview differ")
	require.Contains(t, companions.Items[0].Data["vector.yaml"], "address: '[::]:9598'")
}
