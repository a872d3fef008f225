// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A release with admission injection is uninstalled. After that, no workload gets the sidecar, also if it was created
// or changed during the uninstallation.
func TestChart_EndsAdmissionInjectionOnUninstall(t *testing.T) {
	for name, test := range map[string]struct {
		isDead bool
		policy string
	}{
		"by the operator":     {false, "eject"},
		"without an operator": {true, "eject"},
		"with sidecars left":  {true, "orphan"},
	} {
		t.Run(name, func(t *testing.T) {
			i := installed(t, chartDir, "--set", "admissionInjection.enabled=true,uninstall.policy="+test.policy+
				",leaderElection.leaseDurationSeconds=3,leaderElection.renewDeadlineSeconds=2,leaderElection.retryPeriodSeconds=1")
			cart, _ := injected(t)
			harness.Eventually(t, "the injection by the API server", func() bool { return hasSidecar(created(t, "trial", client.DryRunAll)) })
			if test.isDead {
				i.end(syscall.SIGKILL)
			}
			waits := created(t, "waits")
			require.True(t, hasSidecar(waits), "the API server has put it in")
			stop := deploying(t)

			helm(t, "uninstall", release, "-n", namespace)

			meanwhile := append(stop(), waits)
			require.NotEmpty(t, meanwhile)
			requireReleaseGone(t)
			var sets v1alpha1.OverlaySetList
			require.NoError(t, cluster.List(t.Context(), &sets))
			require.Empty(t, sets.Items)
			harness.Eventually(t, "inactive policies", func() bool { return !hasSidecar(created(t, "trial", client.DryRunAll)) })
			if test.policy == "eject" {
				requireNoTrace(t, cart)
				for _, one := range meanwhile {
					world.Get(t, one)
					require.False(t, hasSidecar(one), "%s: %v %v", one.Name, one.CreationTimestamp, one.ManagedFields)
					require.Empty(t, one.Spec.Template.Annotations)
					require.Empty(t, one.Spec.Template.Spec.Volumes)
				}
			}
			require.False(t, hasSidecar(created(t, "late")))
			endsSoon(t)
		})
	}
}

// created creates a selected Deployment in namespace shop.
func created(t *testing.T, name string, options ...client.CreateOption) *appsv1.Deployment {
	t.Helper()
	made := example.NewDeployment(name, "shop").Labeled("logs", "vector").WithReplicas(0).Build()
	require.NoError(t, cluster.Create(t.Context(), made, options...))
	return made
}

// deploying creates and changes Deployments, one after the other, until stop returns them. It requires that the API
// server rejects none.
func deploying(t *testing.T) (stop func() []*appsv1.Deployment) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var made []*appsv1.Deployment
	var refused error
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := 0; ctx.Err() == nil && refused == nil; n++ {
			one := example.NewDeployment(fmt.Sprintf("meanwhile-%d", n), "shop").Labeled("logs", "vector").WithReplicas(0).Build()
			if refused = cluster.Create(context.WithoutCancel(ctx), one); refused != nil {
				return
			}
			made = append(made, one)
			before := one.DeepCopy()
			one.Spec.Template.Labels["changed"] = "yes"
			refused = cluster.Patch(context.WithoutCancel(ctx), one, client.MergeFrom(before))
		}
	})
	end := func() {
		cancel()
		wait.Wait()
	}
	t.Cleanup(end)
	return func() []*appsv1.Deployment {
		end()
		require.NoError(t, refused)
		return made
	}
}

// endsSoon requires that a namespace can be deleted that has a VectorSidecar without an operator and without
// injected workloads.
func endsSoon(t *testing.T) {
	t.Helper()
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "gone-"}}
	world.Create(t, other)
	world.Create(t, example.NewVectorSidecar("logs", other.Name).Selecting("logs", "vector").Build())
	set := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Name: meta.OverlaySet, Namespace: other.Name}, Spec: overlayset.Compose(nil, nil, nil)}
	harness.Eventually(t, "the deleted policies in the API server's cache", func() bool { return cluster.Create(t.Context(), set) == nil })
	world.Delete(t, other)
	harness.Eventually(t, "the deletion of the namespace", func() bool {
		return apierrors.IsNotFound(cluster.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	})
}
