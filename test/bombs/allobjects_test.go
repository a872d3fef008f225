// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// planted is a bomb in a namespace.
type planted struct {
	*bomb

	namespace string
}

// plantAll creates several of each bomb, each in its own namespace.
func plantAll(t *testing.T, bombs []bomb, each int) []planted {
	t.Helper()
	var all []planted
	for i := range bombs {
		for range each {
			one := planted{&bombs[i], world.Namespace(t)}
			one.plant(t, one.namespace)
			all = append(all, one)
		}
	}
	return all
}

// longest is the maximum length in bytes of an error that a user can read.
const longest = 1000

// holds requires that the VectorSidecar of a bomb has one clear error.
func (p *planted) holds(t *testing.T) {
	t.Helper()
	found := reportedSidecar(t.Context(), p.namespace)
	require.NotNil(t, found, "%s has no status", p.name)
	failure := apimeta.FindStatusCondition(found.Status.Conditions, meta.ConditionError)
	require.Equal(t, metav1.ConditionTrue, failure.Status, "%s: %s", p.name, failure.Message)
	require.Contains(t, failure.Message, p.names, p.name)
	require.Less(t, len(failure.Message), longest, "%s: %s", p.name, failure.Message)
	require.NotContains(t, strings.TrimSpace(failure.Message), "\n", p.name)
	require.Zero(t, found.Status.InjectedDeployments, p.name)
}

// touch makes the operator check a bomb again, at little cost for the API server, by a label of its namespace.
func (p *planted) touch(ctx context.Context, level api.Level) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, api.EnforceLevelLabel, level)
	return world.Client.Patch(ctx, namespace, client.RawPatch(types.MergePatchType, patch))
}

// stirred is the interval between two checks of bombs.
const stirred = 50 * time.Millisecond

// stir makes the operator check bombs repeatedly, until end is called.
func stir(t *testing.T, all []planted) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		levels := []api.Level{api.LevelPrivileged, api.LevelBaseline}
		ticker := time.NewTicker(stirred)
		defer ticker.Stop()
		for n := 0; ; n++ {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			if err := all[n%len(all)].touch(ctx, levels[n/len(all)%2]); err != nil && ctx.Err() == nil {
				t.Errorf("touching a bomb: %v", err)
				return
			}
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// allJudged waits until the operator has checked all bombs, and requires short errors.
func (o *running) allJudged(t *testing.T, all []planted) {
	t.Helper()
	for _, one := range all {
		isJudged := o.until(t.Context(), harness.Patience, func(ctx context.Context) bool { return reportedSidecar(ctx, one.namespace) != nil })
		require.True(t, isJudged, "%s in %s is not judged; the operator lives: %t", one.name, one.namespace, o.lives())
		one.holds(t)
	}
}

// reviews returns the webhook requests for all bombs in a VectorSidecar.
func reviews(t *testing.T, bombs []bomb) [][]byte {
	t.Helper()
	var all [][]byte
	for i := range bombs {
		all = append(all, bombs[i].review(t, "anywhere"))
	}
	return all
}

// Excessive inputs exist before the operator starts, so that it reads them after each restart. It rejects them and
// still injects for other tenants.
func TestOperator_IsolatesExcessiveInputOfTenants(t *testing.T) {
	unlessAsked(t)
	each, injections, clients := 10, 500, 10
	bombs := chosen()
	if !*full {
		each, injections, clients = 1, 20, 1
	}
	var before []time.Duration
	if *full {
		alone := start(t)
		before = newBystander(t).inject(t, alone, injections)
		alone.Kill()
	}
	all := plantAll(t, bombs, each)
	calm := newBystander(t)

	o := start(t)
	require.True(t, o.until(t.Context(), harness.Patience, o.isReady), "it does not start")
	flood := o.beginFlood(t, clients, reviews(t, bombs)...)
	first := calm.inject(t, o, injections/2)
	o.allJudged(t, all)
	still := stir(t, all)
	took := newBystander(t).inject(t, o, injections)
	still()
	flood.end()

	require.True(t, o.lives(), "it was killed")
	o.allJudged(t, all)
	require.NotZero(t, flood.answered.Load())
	require.Zero(t, flood.lost.Load(), "every request has an answer")
	most, err := harness.Memory(o.Pid(), "VmHWM")
	require.NoError(t, err)
	require.LessOrEqual(t, most, int64(limit))
	t.Logf("%d bombs of %d kinds, %d reviews answered: at most %d MiB; injected within %s (p50), %s (p99) while they are first met, then within %s (p50), %s (p99) while they are met again",
		len(all), len(bombs), flood.answered.Load(), most>>20, percentile(first, 50), percentile(first, 99), percentile(took, 50), percentile(took, 99))
	if *full {
		ratio := float64(percentile(took, 99)) / float64(percentile(before, 99))
		t.Logf("without bombs: within %s (p50), %s (p99); p99 ÷ p99 without: %.2f", percentile(before, 50), percentile(before, 99), ratio)
		require.LessOrEqual(t, ratio, 2.0)
	}
}
