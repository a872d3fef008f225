// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// createForAllNamespaces creates ClusterVectorSidecars of the bombs that are in a spec, for the namespaces with a label.
func createForAllNamespaces(t *testing.T, bombs []bomb, key string) (all []*v1alpha1.ClusterVectorSidecar, names []string) {
	t.Helper()
	for i := range bombs {
		objects := bombs[i].carrier("any", bombs[i].text)
		sidecar, isSidecar := objects[0].(*v1alpha1.VectorSidecar)
		inSpec := bombs[i].names == "spec" || bombs[i].names == "sidecar.config.inline" || bombs[i].names == "KiB"
		if !isSidecar || !inSpec {
			continue
		}
		one := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bomb-%d", i)}}
		one.Spec.NamespaceSelector.MatchLabels = map[string]string{key: "true"}
		one.Spec.VectorSidecarSpec = sidecar.Spec
		world.Create(t, one)
		all, names = append(all, one), append(names, bombs[i].names)
	}
	return all, names
}

// The input of a ClusterVectorSidecar would need too much memory in some namespaces. The operator rejects it there
// within its memory limit, and injects in the other namespaces.
func TestClusterVectorSidecar_IsolatesExcessiveInput(t *testing.T) {
	unlessAsked(t)
	namespaces, injections := 300, 200
	if !*full {
		namespaces, injections = 20, 20
	}
	const key = "bombed"
	for range namespaces {
		namespace := world.Namespace(t, key, "true")
		world.Create(t, deployment(namespace).Build())
	}
	all, names := createForAllNamespaces(t, kinds(), key)
	require.NotEmpty(t, all)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, one := range all { // An operator that was killed takes no finalizer away, and none was put there.
			require.NoError(t, client.IgnoreNotFound(world.Client.Delete(ctx, one)))
		}
	})
	calm := newBystander(t)

	began := time.Now()
	o := start(t, "--cluster-sidecars")
	require.True(t, o.until(t.Context(), harness.Patience, o.isReady), "it does not start")
	took := calm.inject(t, o, injections)
	for i, one := range all {
		isJudged := o.until(t.Context(), harness.Patience, func(ctx context.Context) bool {
			return world.Client.Get(ctx, client.ObjectKeyFromObject(one), one) == nil && one.Status.ObservedGeneration == one.Generation &&
				apimeta.IsStatusConditionFalse(one.Status.Conditions, meta.ConditionReady) && len(one.Status.Workloads) > 0
		})
		require.True(t, isJudged, "%s is not judged; the operator lives: %t; %v", one.Name, o.lives(), one.Status)
		require.Contains(t, one.Status.Workloads[0].Message, names[i], one.Name)
		require.Less(t, len(one.Status.Workloads[0].Message), longest, one.Name)
	}
	judgedIn := time.Since(began)
	require.True(t, o.rest(t, tooLong), "it goes on computing")
	require.True(t, o.lives(), "it was killed")
	most, err := harness.Memory(o.Pid(), "VmHWM")
	require.NoError(t, err)
	require.LessOrEqual(t, most, int64(limit))
	used, err := harness.CPU(o.Pid())
	require.NoError(t, err)
	t.Logf("%d bombs in %d namespaces: judged within %s, %s of processor time, at most %d MiB; a bystander's workloads were injected within %s (p50), %s (p99)",
		len(all), namespaces, judgedIn.Round(time.Millisecond), used.Round(time.Millisecond), most>>20, percentile(took, 50), percentile(took, 99))
}
