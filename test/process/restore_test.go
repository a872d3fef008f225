// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// etcd is restored from an earlier snapshot, so that the caches of all replicas are newer than the stored objects. All
// replicas exit, and the next operator reads the stored objects.
func TestOperator_ExitsAfterEtcdRestore(t *testing.T) {
	plane := controlplane.ForTest(t, controlplane.Options{})
	world, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	world.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}})
	elected := harness.Settings{Arguments: []string{
		"--namespace=" + own, "--leader-elect",
		// The outage is shorter than this.
		"--leader-election-lease-duration=120s", "--leader-election-renew-deadline=110s", "--leader-election-retry-period=500ms",
	}}
	leader := harness.StartProcess(t, program, plane.Kubeconfig(), elected)
	harness.Eventually(t, "the leadership", func() bool { return leads(t, leader) })
	other := harness.StartProcess(t, program, plane.Kubeconfig(), elected)
	harness.Eventually(t, "the other operator on standby", func() bool { return len(other.Said(t, "standing by")) > 0 })
	namespace := "shop"
	world.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Build()
	world.Create(t, cart, vs)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	snapshot := filepath.Join(t.TempDir(), "etcd")
	require.NoError(t, plane.SnapshotEtcd(t.Context(), snapshot))
	late := objects.NewDeployment("late", namespace).Labeled("logs", "vector").Build()
	harness.Eventually(t, "a running API server", func() bool { return world.Client.Create(t.Context(), late) == nil })
	harness.Until(t, world, late, "the sidecar", isInjected)
	// A replica detects the restore only if it has read a newer Lease since the snapshot. The standby reads the Lease
	// within two of these periods.
	renewed := map[string]bool{}
	harness.Eventually(t, "the Lease to be renewed several times", func() bool {
		var lease coordinationv1.Lease
		require.NoError(t, world.Client.Get(t.Context(), types.NamespacedName{Namespace: own, Name: meta.Operator}, &lease))
		renewed[lease.ResourceVersion] = true
		return len(renewed) > 5
	})

	require.NoError(t, plane.RestoreEtcd(t.Context(), snapshot))

	for _, p := range []*harness.Process{leader, other} {
		harness.Eventually(t, "the end of the process", func() bool {
			select {
			case <-p.Ended():
				return true
			default:
				return false
			}
		})
		require.Equal(t, 1, p.ExitCode())
		require.Contains(t, p.Said(t, "running the operator")[0]["error"], "etcd was restored from an earlier snapshot")
	}
	harness.StartProcess(t, program, plane.Kubeconfig(), harness.Settings{Arguments: []string{"--namespace=" + own}})
	world.Create(t, objects.NewDeployment("new", namespace).Labeled("logs", "vector").Build())
	harness.Until(t, world, vs, "the existing objects", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.MatchedDeployments == 2 && vs.Status.InjectedDeployments == 2
	})
}
