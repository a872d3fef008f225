// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// trying is an API server that answers dry runs.
type trying struct {
	patch  func(ctx context.Context, name string) error
	create func(ctx context.Context, pod *corev1.Pod) error
	asked  atomic.Int32
}

func (s *trying) preflights() *preflights {
	answered := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, _ client.WithWatch, object client.Object, _ client.Patch, options ...client.PatchOption) error {
			s.asked.Add(1)
			if applied := (&client.PatchOptions{}).ApplyOptions(options); len(applied.DryRun) == 0 {
				panic("a write in place of a dry run")
			}
			return s.patch(ctx, object.GetName())
		},
		Create: func(ctx context.Context, _ client.WithWatch, object client.Object, options ...client.CreateOption) error {
			s.asked.Add(1)
			if applied := (&client.CreateOptions{}).ApplyOptions(options); len(applied.DryRun) == 0 {
				panic("a write in place of a dry run")
			}
			pod, _ := object.(*corev1.Pod)
			return s.create(ctx, pod)
		},
	}).Build()
	return &preflights{instruments: instrument.New(instrument.Instruments{Metrics: telemetry.NewMetrics("1", time.Now), Reports: telemetry.NewNoopReporter()}, 0, time.Now), writer: apply.New(answered), isEnabled: true}
}

// injections returns plans for workloads with a number of pod shapes, and the same number of workloads for each shape.
func injections(shapes, each int) *decision.Decision {
	decided := &decision.Decision{}
	for shape := range shapes {
		for n := range each {
			name := fmt.Sprintf("app-%d-%d", shape, n)
			decided.Plans = append(decided.Plans, plan.Plan{
				Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: name, UID: types.UID(name)},
				Change: plan.Inject, Manager: "vectorsidecar/logs", Write: plan.Write{Apply: map[string]any{}},
				Workload: workload.State{Shape: uint64(shape) + 1},
				Desired:  plan.NewDesired(&workload.Overlay{Hash: "a"}, "logs", "vector", "", plan.Notes{}),
			})
		}
	}
	return decided
}

func consent(context.Context, string) error { return nil }

func knownOfShop() *state.Sidecar {
	return state.New(time.Now).GetOrCreate(types.NamespacedName{Namespace: "shop", Name: "logs"})
}

// If the API server does not answer a dry run, the reconcile continues after the timeout, and its writes are not
// blocked.
func TestPreflights_StopUnansweredDryRuns(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, server := range map[string]*trying{
		"the write": {patch: func(ctx context.Context, _ string) error { return hang(ctx) }},
		"the pod":   {patch: consent, create: func(ctx context.Context, _ *corev1.Pod) error { return hang(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				known, decided, began := knownOfShop(), injections(50, 2), time.Now()
				require.False(t, server.preflights().runDryRuns(t.Context(), known, decided), "all of it is written")
				require.LessOrEqual(t, time.Since(began), trialsTimeout)
				for i := range decided.Plans {
					verdict, isKnown := preflight.FindResult(known.DryRuns(), &decided.Plans[i])
					require.True(t, isKnown)
					require.Equal(t, preflight.Inconclusive, verdict.Result)
				}
				asked := server.asked.Load()
				require.False(t, server.preflights().runDryRuns(t.Context(), known, decided))
				require.Equal(t, asked, server.asked.Load(), "for a while it is not asked again")
			})
		})
	}
}

// If a reconcile is canceled before a dry run has a result, no result is stored, and the next reconcile repeats the dry
// run.
func TestPreflights_RepeatsDryRunOfCanceledReconcile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := &trying{patch: func(context.Context, string) error { cancel(); return ctx.Err() }}
	known := knownOfShop()
	require.True(t, server.preflights().runDryRuns(ctx, known, injections(1, 1)), "nothing is written")
	require.Empty(t, known.DryRuns())
}

// A dry run conflicts with fields of another field manager. That is not a rejection, because the write itself reports
// the conflict for each workload.
func TestPreflights_IgnoresConflicts(t *testing.T) {
	conflict := apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "helm"`}}, "conflict")
	server := &trying{patch: func(context.Context, string) error { return conflict }}
	known := knownOfShop()
	require.False(t, server.preflights().runDryRuns(t.Context(), known, injections(1, 10)), "or the passes would never end")
	require.Empty(t, known.DryRuns())
	require.EqualValues(t, 10, server.asked.Load())
}

// A dry run fails because the ServiceAccount of a workload is missing. Only that workload is blocked, and another
// workload of the same pod shape gets a dry run.
func TestPreflights_BlocksOnlyWorkloadWithMissingAccount(t *testing.T) {
	lacks := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "app", errors.New(`error looking up service account shop/app: serviceaccount "app" not found`))
	server := &trying{patch: consent}
	server.create = func(_ context.Context, pod *corev1.Pod) error {
		if pod.Name == "app-0-0-preflight" {
			return lacks
		}
		return nil
	}
	known, decided := knownOfShop(), injections(1, 5)
	require.True(t, server.preflights().runDryRuns(t.Context(), known, decided), "it is not written")
	results := map[preflight.Result]int{}
	for i := range decided.Plans {
		verdict, _ := preflight.FindResult(known.DryRuns(), &decided.Plans[i])
		results[verdict.Result]++
	}
	require.Equal(t, map[preflight.Result]int{preflight.RejectedAnyway: 1, preflight.Passed: 4}, results)
	require.EqualValues(t, 5, server.asked.Load(), "three for the first, and two for the next")
}

// If the ServiceAccounts of all workloads are missing, each reconcile sends a few dry runs, until all workloads are
// checked.
func TestPreflights_ChecksMissingAccountsInSteps(t *testing.T) {
	lacks := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "app", errors.New(`error looking up service account shop/app: serviceaccount "app" not found`))
	server := &trying{patch: consent, create: func(context.Context, *corev1.Pod) error { return lacks }}
	known, decided, passes := knownOfShop(), injections(1, 10), 0
	for server.preflights().runDryRuns(t.Context(), known, decided) {
		passes++
		require.LessOrEqual(t, passes, 4)
	}
	require.Equal(t, 4, passes)
	require.Len(t, known.DryRuns(), 10)
}
