// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// In mode OnAppRollout, a changed sidecar image waits until the application owner changes the workload. One rollout
// then has both changes. The test counts ReplicaSets, because the annotation of the wait also increases a Deployment's
// generation.
func TestModeOnAppRollout_AppliesImageWithNextDeploy(t *testing.T) {
	t.Parallel()
	size := 50
	if *figures {
		size = 500
	}
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Build()
	vs.Spec.Rollout.Mode = v1alpha1.ModeOnAppRollout
	world.Create(t, vs)
	awaitOverlay(t, vs)
	one := func(name string) *appsv1.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector").WithReplicas(0).Build()
	}
	untilActive(t, one("any"), "vector")
	image := func(d *appsv1.Deployment) string { return d.Spec.Template.Spec.InitContainers[0].Image }
	begun := time.Now()
	step := func(what string) {
		t.Logf("%s after %s: %d ReplicaSets of %d Deployments", what, time.Since(begun).Round(time.Second), revisions(t, namespace), size)
	}
	apps := make([]*appsv1.Deployment, size)
	each := func(do func(i int) error) {
		var all errgroup.Group
		all.SetLimit(8)
		for i := range apps {
			all.Go(func() error { return do(i) })
		}
		require.NoError(t, all.Wait())
	}
	each(func(i int) error {
		apps[i] = one(fmt.Sprintf("app-%03d", i))
		return world.Client.Create(t.Context(), apps[i])
	})
	old := image(apps[0])
	harness.Until(t, world, vs, "the adoption of all sidecars", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == int32(size)
	})
	harness.Eventually(t, "a ReplicaSet for each", func() bool { return revisions(t, namespace) >= size })
	step("created")

	next := old + "-next"
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: next} })
	harness.Until(t, world, vs, "the waiting state of all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Deferred != nil && vs.Status.Deferred.Workloads == int32(size)
	})
	harness.Eventually(t, "the changed image in the API server's cache", func() bool {
		trial := one("trial")
		return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && image(trial) == next
	})
	step("changed image")
	require.Equal(t, size, revisions(t, namespace), "0 rollouts before an owner's change")

	each(func(i int) error {
		base := apps[i].DeepCopy()
		apps[i].Spec.Template.Spec.Containers[0].Image = "registry.example/app:2"
		if err := world.Client.Patch(t.Context(), apps[i], client.StrategicMergeFrom(base)); err != nil {
			return err
		}
		if got := image(apps[i]); got != next {
			return fmt.Errorf("%s has %s after its owner's change", apps[i].Name, got)
		}
		return nil
	})
	harness.Until(t, world, vs, "no waiting workload", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Deferred == nil && vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == int32(size)
	})
	for _, app := range apps {
		harness.Until(t, world, app, "the object in the controller's cache", func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration == d.Generation })
		require.Equal(t, next, image(app))
	}
	step("owners' changes")
	require.Equal(t, 2*size, revisions(t, namespace), "exactly 1 for each owner's change")
}
