// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// liveDeployment answers every read with one Deployment, or an error, and counts reads.
type liveDeployment struct {
	client.Reader

	object *appsv1.Deployment
	err    error
	looks  int
}

func (l *liveDeployment) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	l.looks++
	if l.err == nil {
		l.object.DeepCopyInto(into.(*appsv1.Deployment))
	}
	return l.err
}

// version returns a Deployment at one resource version.
func version(resourceVersion string, uid types.UID) *appsv1.Deployment {
	deployment := objects.NewDeployment("cart", "shop").Build()
	deployment.ResourceVersion, deployment.UID = resourceVersion, uid
	return deployment
}

// behind returns views with an attempt on version 10 that missed the workload. The live workload must be read now.
func behind(t *testing.T, live *liveDeployment) (*stalenessGuard, *state.Memory) {
	t.Helper()
	now := time.Now()
	clock := func() time.Time { return now }
	memory := state.New(clock)
	v := &stalenessGuard{workloads: workloadcache.New(), live: live, now: clock}
	logs, audit := memory.GetOrCreate(logsOfShop), memory.GetOrCreate(auditOfShop)
	v.workloads.Put(v.workloads.Reduce(version("10", "u")))
	isCurrent := func(sidecarState *state.Sidecar, p *plan.Plan) bool {
		_, isCurrent := v.checkView(t.Context(), sidecarState, p)
		return isCurrent
	}
	require.True(t, isCurrent(logs, seen("10", 1, "a")), "nothing was tried yet")
	require.Equal(t, state.FirstRetry, logs.RecordMiss(seen("10", 1, "a"), nil))

	result, may := v.checkView(t.Context(), logs, seen("10", 1, "b"))
	require.False(t, may, "whatever is to be written")
	require.Equal(t, state.FirstRetry, result.RequeueAfter)
	require.Zero(t, live.looks, "it is not time to look yet")
	require.True(t, isCurrent(logs, seen("11", 1, "a")), "the view has changed")
	require.True(t, isCurrent(audit, seen("10", 1, "a")), "another VectorSidecar has not tried")
	require.True(t, memory.IsAwaited("u"))
	now = now.Add(state.FirstRetry)
	return v, memory
}

// A write is rejected because the cached workload is outdated. The guard reads the live workload, which decides whether
// and when the next write starts.
func TestStalenessGuard_ReadsLiveWorkloadAfterStaleWrite(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, "cart")
	for name, test := range map[string]struct {
		live     liveDeployment
		may      bool
		wait     time.Duration
		failures int
		shown    string
	}{
		"another version":     {liveDeployment{object: version("12", "u")}, false, state.AtOnce, 0, "12"},
		"an older one":        {liveDeployment{object: version("9", "u")}, false, 2 * state.FirstRetry, 0, "10"},
		"the same version":    {liveDeployment{object: version("10", "u")}, true, 0, 0, "10"},
		"it is gone":          {liveDeployment{err: notFound}, false, 2 * state.FirstRetry, 0, "10"},
		"another of its name": {liveDeployment{object: version("12", "v")}, false, 2 * state.FirstRetry, 0, "10"},
		"no answer":           {liveDeployment{err: errors.New("no")}, false, 0, 1, "10"},
	} {
		t.Run(name, func(t *testing.T) {
			v, memory := behind(t, &test.live)

			result, may := v.checkView(t.Context(), memory.GetOrCreate(logsOfShop), seen("10", 1, "a"))

			require.Equal(t, test.may, may)

			require.Equal(t, 1, test.live.looks)
			require.Equal(t, test.wait, result.RequeueAfter)
			require.Len(t, decision.Results{result}.Failures(), test.failures)
			require.Equal(t, test.shown, v.workloads.Get("Deployment", "shop", "cart").ResourceVersion())
		})
	}
}

// A write is rejected because of another VectorSidecar's fields. That is reported as a conflict only after the live
// workload was read, because the cache may have been outdated.
func TestStalenessGuard_ReportsConflictOnlyAfterLiveRead(t *testing.T) {
	v, memory := behind(t, &liveDeployment{object: version("10", "u")})
	rivals := &apply.ConflictError{Err: errors.New("no"), Siblings: true}
	p := seen("10", 1, "a")
	require.True(t, isAhead(memory.GetOrCreate(logsOfShop), p, rivals))
	require.True(t, isAhead(memory.GetOrCreate(auditOfShop), p, rivals))
	require.False(t, isAhead(memory.GetOrCreate(logsOfShop), p, &apply.ConflictError{Err: errors.New("no")}))
	require.False(t, isAhead(memory.GetOrCreate(logsOfShop), p, nil))

	_, may := v.checkView(t.Context(), memory.GetOrCreate(logsOfShop), p)
	require.True(t, may)
	require.False(t, isAhead(memory.GetOrCreate(logsOfShop), p, rivals), "the view is known to be current")
	memory.GetOrCreate(logsOfShop).KeepExpectations([]plan.Plan{})
	require.False(t, memory.IsAwaited("u"))
}

var (
	logsOfShop  = types.NamespacedName{Namespace: "shop", Name: "logs"}
	auditOfShop = types.NamespacedName{Namespace: "shop", Name: "audit"}
)

// seen returns a plan for a sidecar with a hash, made from a version of a workload.
func seen(resourceVersion string, generation int64, hash string) *plan.Plan {
	return &plan.Plan{
		Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "u"},
		Change: plan.Update, Workload: workload.State{ResourceVersion: resourceVersion, EquivalentVersion: resourceVersion, Generation: generation},
		Desired: plan.NewDesired(&workload.Overlay{Hash: hash}, "logs", "vector", "", plan.Notes{}),
	}
}
