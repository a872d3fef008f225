// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The counted bytes of a decision equal the memory that it allocates, apart from rounding.
func TestPrevious_CountsAllocatedBytes(t *testing.T) {
	const count = 2000
	allocated := func() float64 { // In all: what others have left to collect makes no difference.
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return float64(stats.TotalAlloc)
	}
	previous := &Previous{Injected: make([]*Evaluated, 0, count)}
	before := allocated()
	for range count {
		previous.Injected = append(previous.Injected, &Evaluated{Basis: strings.Repeat("b", 32), Plan: plan.Plan{Rollout: plan.Rollout{Message: strings.Repeat("m", 64)}}})
	}
	require.InEpsilon(t, allocated()-before, previous.Bytes(), 0.1)
}

// A reconcile evaluates only the workloads that have changed since the last one.
func TestFindEvaluated_FindsOnlyUnchangedWorkloads(t *testing.T) {
	cache := workloadcache.New()
	var all []*appsv1.Deployment
	for i := range 6 {
		all = append(all, objects.NewDeployment("workload-"+strconv.Itoa(i), "shop").Labeled("logs", "vector").Build())
	}
	var records []*workloadcache.Record
	for _, one := range all[:5] {
		records = append(records, cache.Reduce(one))
	}
	evaluated := 0
	pass := func(before []*Evaluated, basis string) []*Evaluated {
		evaluated = 0
		var now []*Evaluated
		for _, record := range records {
			one := findEvaluated(before, record)
			if one == nil || one.Basis != basis {
				one, evaluated = &Evaluated{Record: record, Basis: basis}, evaluated+1
			}
			now = append(now, one)
		}
		return now
	}
	previous := pass(nil, "a")
	require.Equal(t, 5, evaluated)
	previous = pass(previous, "a")
	require.Zero(t, evaluated)
	all[3] = all[3].DeepCopy()
	all[3].Labels["team"] = "search"
	records[3] = cache.Reduce(all[3])
	previous = pass(previous, "a")
	require.Equal(t, 1, evaluated, "it has changed")
	before := records[3].Rollout()
	all[3].Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}
	records[3] = cache.Reduce(all[3])
	require.NotEqual(t, before, records[3].Rollout())
	previous = pass(previous, "a")
	require.Zero(t, evaluated, "its state alone has changed")
	records = append(records[:1:1], records[2:]...)
	previous = pass(previous, "a")
	require.Zero(t, evaluated, "one is gone")
	require.Len(t, previous, 4)
	records = append(records, cache.Reduce(all[5]))
	previous = pass(previous, "a")
	require.Equal(t, 1, evaluated, "one is new")
	pass(previous, "b")
	require.Equal(t, 5, evaluated, "they are evaluated by something else")
}

// A rendering that exceeded its time is not used in the next reconcile.
func TestPrevious_OmitsTimedOutRenderings(t *testing.T) {
	late := evaluated("cart", plan.None, nil, workload.State{})
	late.Source, late.Evaluated.Rendered = &desired.Source{}, &desired.Rendered{TimedOut: true, Invalid: &desired.Invalid{}}
	require.Empty(t, decideFor(&evaluation{Input: inputAt(noon)}, []evaluatedWorkload{late}, nil).Previous.Injected)
}
