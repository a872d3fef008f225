// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If the operator reverts a spec or ends the revert, VectorSidecars that may compete with the rendered spec are
// reconciled.
func TestLaterChanges_DetectsRevertedSpec(t *testing.T) {
	before := objects.NewVectorSidecar("logs", "shop").Build()
	after := before.DeepCopy()
	update := func() bool { return laterChanges().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) }
	require.False(t, update())
	after.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: lastgood.Digest(&after.Spec)}
	require.False(t, update(), "that one is kept changes nothing")
	after.Status.Reverted = &v1alpha1.RevertedSpec{Digest: lastgood.Digest(&after.Spec)}
	require.True(t, update())
	before, after = after, before
	require.True(t, update())
}

// After a restart, the Deployment still reports the progress deadline that the failed spec exceeded. The operator
// ignores this deadline, because other workloads would wait for it.
func TestReconcile_IgnoresEarlierDeadlineAfterRestart(t *testing.T) {
	wrote, cart := map[string]int{}, fieldmanager.New(t)
	funcs := interceptor.Funcs{Patch: func(ctx context.Context, on client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if _, is := object.(*metav1.PartialObjectMetadata); !is {
			return on.Patch(ctx, object, patch, options...)
		}
		text, err := patch.Data(object)
		if wrote[object.GetName()]++; object.GetName() == "cart" {
			cart.Apply(meta.Manager("logs"), string(text))
		}
		object.SetResourceVersion("2000")
		return err
	}}
	vs := objects.NewVectorSidecar("logs", "shop").Selecting("app", "cart").WithImage("timberio/vector:good").Build()
	vs.Spec.Rollout.OnFailure = v1alpha1.OnFailureRevert
	live := func() *appsv1.Deployment {
		live := cart.Live()
		live.UID = "cart"
		return live
	}
	api := newMemoryAPI(t, funcs, vs, live())
	_, err := api.once(t, "logs")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"cart": 1}, wrote)

	back := live()
	back.Status = appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2, Conditions: []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", LastUpdateTime: metav1.NewTime(time.Now().Add(-5 * time.Second)),
	}}}
	require.NoError(t, api.Get(t.Context(), logsOfShop, vs))
	done := &lastgood.Observation{Progress: fleet.Progress{IsDone: true}, OnFailure: v1alpha1.OnFailureRevert, IsFullyRolledOut: true}
	vs.Status.LastKnownGood = lastgood.NextSpecStatus(vs, done).LastGood
	vs.Spec.Sidecar.Image = "timberio/vector:bad"
	vs.Status.Reverted = &v1alpha1.RevertedSpec{Digest: lastgood.Digest(&vs.Spec), Generation: 2, FailedWorkloads: 1}
	vs.Status.Workloads[0].State = v1alpha1.StateFailed // This is the state before the write.
	vs.Status.LastReconcileTime = &metav1.Time{Time: time.Now().Add(-time.Minute)}
	later := objects.NewDeployment("later", "shop").Labeled("app", "cart").Build()
	later.ResourceVersion, later.UID = "", "later"
	api = newMemoryAPI(t, funcs, vs, back, later)
	_, err = api.once(t, "logs")
	require.NoError(t, err)

	require.NoError(t, api.Get(t.Context(), logsOfShop, vs))
	require.Equal(t, v1alpha1.StateRollingOut, vs.Status.Workloads[0].State, vs.Status.Workloads[0].Message)
	require.Equal(t, 1, wrote["later"], "it waits for nothing")
}
