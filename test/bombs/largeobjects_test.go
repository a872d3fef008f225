// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

const (
	// mostWithLargeObjects is how many bytes an operator may have resident next to large objects of a tenant.
	mostWithLargeObjects = 200 << 20
	// smallCount is how many small objects come before the large ones.
	smallCount = 1000
	// creators is how many objects are created concurrently.
	creators = 4
	// compaction is the interval in which old revisions of objects are removed: a deletion with a finalizer writes each large object
	// three times, which is more than the quota holds.
	compaction = "20s"
	// largePatience is how long an operator may take next to large objects on a slow machine.
	largePatience = 10 * time.Minute
)

// largeScene is a namespace of a tenant with many large objects.
type largeScene struct {
	*harness.World

	namespace, kubeconfig string
	// sidecar is the tenant's own VectorSidecar.
	sidecar *v1alpha1.VectorSidecar
}

// newLargeScene returns a scene on a new control plane, with or without streaming lists. It ends with the test.
func newLargeScene(t *testing.T, hasWatchList bool) *largeScene {
	t.Helper()
	fresh := controlplane.ForTest(t, controlplane.Options{
		EtcdQuota:     4 << 30,
		FeatureGates:  map[string]bool{"WatchList": hasWatchList},
		APIServerArgs: map[string]string{"etcd-compaction-interval": compaction},
	})
	world, err := harness.NewWorld(fresh.Config())
	require.NoError(t, err)
	require.NoError(t, prepare(t.Context(), world))
	return &largeScene{World: world, kubeconfig: fresh.Kubeconfig(), namespace: world.Namespace(t)}
}

// fill creates the small and the large objects of a variant.
func (s *largeScene) fill(t *testing.T, object func(*largeScene, string, int) client.Object, size, small, large int) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(creators)
	for i := range small + large {
		group.Go(func() error {
			if i < small {
				return s.Client.Create(ctx, object(s, fmt.Sprintf("a-%04d", i), 1<<10))
			}
			return s.Client.Create(ctx, object(s, fmt.Sprintf("large-%04d", i), size))
		})
	}
	require.NoError(t, group.Wait())
}

// runOperator runs the operator until the tenant's VectorSidecar is finished and the operator has nothing to do. It returns
// the largest resident memory in bytes and the time until the VectorSidecar was finished.
func runOperator(t *testing.T, s *largeScene, v *largeVariant) (most int64, took time.Duration) {
	t.Helper()
	begin := time.Now()
	o := startAt(t, s.kubeconfig)
	isFinished := o.until(t.Context(), largePatience, func(ctx context.Context) bool { return v.isFinished(ctx, s) })
	took = time.Since(begin)
	require.True(t, isFinished, "the VectorSidecar is not finished; the operator lives: %t", o.lives())
	require.True(t, o.rest(t, largePatience), "the operator keeps computing")
	most, err := harness.Memory(o.Pid(), "VmHWM")
	require.NoError(t, err)
	o.Kill()
	return most, took
}

// One tenant has many large objects. They do not stop the operator, and the rollouts of that tenant's VectorSidecars
// still finish.
func TestOperator_LimitsMemoryForLargeObjects(t *testing.T) {
	unlessAsked(t)
	if *full {
		t.Skip("TestOperator_LimitsMemoryForThousandLargestObjects has all variants")
	}
	const count, size = 250, 1300 << 10
	v := largeVariants()["Deployments"]
	scene := &largeScene{World: world, kubeconfig: plane.Kubeconfig(), namespace: world.Namespace(t)}
	t.Cleanup(func() {
		require.NoError(t, world.Client.DeleteAllOf(context.WithoutCancel(t.Context()), &appsv1.Deployment{}, client.InNamespace(scene.namespace)))
	})
	v.prepare(t, scene)
	scene.fill(t, v.object, size, 0, count)
	if v.begin != nil {
		v.begin(t, scene)
	}
	most, took := runOperator(t, scene, v)
	t.Logf("%d Deployments: at most %d MiB resident, finished in %s", count, most>>20, took.Round(time.Second))
	require.LessOrEqual(t, most, int64(mostWithLargeObjects))
}

// A thousand objects have the largest size that the API server stores. The operator stays within its memory limit. Each
// run has its own control plane.
func TestOperator_LimitsMemoryForThousandLargestObjects(t *testing.T) {
	if !*full {
		t.Skip("only in make bombs")
	}
	for _, run := range []struct {
		name         string
		hasWatchList bool
		small        int
	}{
		{"WatchList", true, 0},
		{"no WatchList", false, 0},
		{"small objects first", true, smallCount},
		{"small objects first, no WatchList", false, smallCount},
	} {
		variants := largeVariants()
		for _, name := range slices.Sorted(maps.Keys(variants)) {
			v := variants[name]
			t.Run(name+"/"+run.name, func(t *testing.T) {
				scene := newLargeScene(t, run.hasWatchList)
				v.prepare(t, scene)
				scene.fill(t, v.object, v.size, run.small, *large)
				if v.begin != nil {
					v.begin(t, scene)
				}
				most, took := v.measure(t, scene, v)
				t.Logf("%d %s, %s: at most %d MiB resident, finished in %s", *large, name, run.name, most>>20, took.Round(time.Second))
				require.LessOrEqual(t, most, int64(mostWithLargeObjects))
			})
		}
	}
}
