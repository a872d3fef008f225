// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"net/http/httptrace"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// besides starts a second API server, which runs until the end of the test suite.
var besides = sync.OnceValues(func() (*rest.Config, error) { return plane.AddAPIServer() })

// second returns a client of the second API server.
func second(t *testing.T) (client.Client, *rest.Config) {
	t.Helper()
	config, err := besides()
	require.NoError(t, err)
	asked, err := client.New(config, client.Options{Scheme: world.Client.Scheme()})
	require.NoError(t, err)
	return asked, config
}

// untilInjects waits until the second API server injects by the OverlaySet.
func untilInjects(t *testing.T, asked client.Client, deployment *appsv1.Deployment) {
	t.Helper()
	harness.Eventually(t, "the injection by the second API server", func() bool {
		trial := deployment.DeepCopy()
		return asked.Create(t.Context(), trial, client.DryRunAll) == nil && has(trial, "vector")
	})
}

// behind freezes the second API server, calls happens, sends a create, and then resumes the API server. So the API
// server has the create before it reads the changes. behind returns when the create is answered.
func behind(t *testing.T, asked client.Client, object client.Object, happens func()) {
	t.Helper()
	require.NoError(t, asked.Get(t.Context(), client.ObjectKey{Name: object.GetNamespace()}, &corev1.Namespace{}), "a connection to it is open")
	thaw, err := plane.Freeze(controlplane.SecondAPIServer)
	require.NoError(t, err)
	defer func() { require.NoError(t, thaw()) }() // Once more does no harm.
	happens()
	sent, done := make(chan struct{}), make(chan error, 1)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }})
	go func() { done <- asked.Create(ctx, object) }()
	select {
	case <-sent:
	case <-time.After(harness.Patience):
		require.FailNow(t, "the request was not sent")
	}
	require.NoError(t, thaw())
	require.NoError(t, <-done)
}

// If one of two API servers injects an outdated sidecar, because it has not read a change of the OverlaySet yet, the
// operator corrects the workload with at most one more rollout. The test is not parallel, because it freezes an API
// server.
func TestOverlaySet_CorrectsInjectionOfLaggingAPIServer(t *testing.T) {
	asked, _ := second(t)
	const rounds = 8
	for name, test := range map[string]struct {
		happens func(*testing.T, *v1alpha1.VectorSidecar)
		isRight func(*appsv1.Deployment) bool
	}{
		"a sidecar that has changed": {
			func(t *testing.T, vs *v1alpha1.VectorSidecar) {
				before := awaitOverlay(t, vs).Spec.Overlays[0].Hash
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "debug"} })
				overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool { return o.SkipReason == "" && o.Hash != before })
			},
			func(d *appsv1.Deployment) bool { return logLevel(d) == "debug" && isAdopted("logs")(d) },
		},
		"a VectorSidecar that is disabled": {
			func(t *testing.T, vs *v1alpha1.VectorSidecar) {
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
				awaitNoOverlay(t, vs.Namespace, vs.Name)
			},
			isClean,
		},
		"a VectorSidecar that is deleted": {
			func(t *testing.T, vs *v1alpha1.VectorSidecar) {
				world.Delete(t, vs)
				awaitNoOverlay(t, vs.Namespace, vs.Name)
			},
			isClean,
		},
		"a selector that has changed": {
			func(t *testing.T, vs *v1alpha1.VectorSidecar) {
				before := awaitOverlay(t, vs).Spec.Overlays[0].Requirements
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels = map[string]string{"logs": "other"} })
				overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool { return !equality.Semantic.DeepEqual(o.Requirements, before) })
			},
			isClean,
		},
	} {
		t.Run(name, func(t *testing.T) {
			stale, most := 0, int64(0)
			for range rounds {
				namespace := world.Namespace(t)
				vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = "info" }).Build()
				world.Create(t, vs)
				awaitOverlay(t, vs)
				deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
				untilInjects(t, asked, deployment)
				behind(t, asked, deployment, func() { test.happens(t, vs) })
				if has(deployment, "vector") && logLevel(deployment) == "info" {
					stale++
				}
				harness.Until(t, world, deployment, name, test.isRight)
				most = max(most, deployment.Generation)
				require.LessOrEqual(t, deployment.Generation, int64(2))
				require.LessOrEqual(t, revisions(t, namespace), 2)
			}
			t.Logf("%d of %d were put in by what there was before; generation %d at most", stale, rounds, most)
		})
	}
}

// isClean returns whether a Deployment is without all fields of a sidecar.
func isClean(d *appsv1.Deployment) bool {
	return !has(d, "vector") && len(d.Spec.Template.Annotations)+len(d.Spec.Template.Spec.Volumes) == 0
}

// If an API server has not read yet that a VectorSidecar was deleted, it may inject a sidecar after the deletion.
// Such a sidecar looks like a restored revision, so the operator reports it as a leftover and the user decides. The
// test is not parallel, because it freezes an API server.
func TestOverlaySet_ReportsInjectionAfterMissedDeletion(t *testing.T) {
	asked, _ := second(t)
	const tries = 10
	for range tries {
		namespace := world.Namespace(t)
		vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
		world.Create(t, vs)
		awaitOverlay(t, vs)
		deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
		untilInjects(t, asked, deployment)
		behind(t, asked, deployment, func() {
			world.Delete(t, vs)
			harness.Eventually(t, "the deletion", func() bool {
				return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), &v1alpha1.VectorSidecar{}))
			})
		})
		if !has(deployment, "vector") {
			continue // It was not behind for long enough.
		}
		harness.Eventually(t, "the report", func() bool {
			var events corev1.EventList
			require.NoError(t, world.Client.List(t.Context(), &events, client.InNamespace(namespace)))
			return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
				return e.Reason == meta.ReasonLeftoverFound && e.InvolvedObject.Name == deployment.Name
			})
		})
		plugin(t, "eject", "-n", namespace, "--yes")
		world.Get(t, deployment)
		require.True(t, isClean(deployment))
		return
	}
	t.Skip("it was never behind for long enough")
}

// If the API server of the leading operator does not answer any more, a replica that uses another API server leads.
// That API server still injects. The test is not parallel, because it freezes an API server.
func TestOverlaySet_SupportsLeaderAtAnotherAPIServer(t *testing.T) {
	asked, config := second(t)
	require.NoError(t, running.Stop())
	ofSecond := *world
	ofSecond.Operator = rest.CopyConfig(world.Operator)
	ofSecond.Operator.Host = config.Host
	elected := options
	elected.LeaderElect, elected.LeaderElectionID = true, harness.Account
	elected.LeaseDuration, elected.RenewDeadline, elected.RetryPeriod = 3*time.Second, 2*time.Second, 500*time.Millisecond
	first := world.RunOperator(elected)
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	next := ofSecond.RunOperator(elected)
	before := objects.NewDeployment("before", namespace).Labeled("logs", "vector").Build()
	untilActive(t, before, "vector")
	world.Create(t, before)
	harness.Until(t, world, before, "the adoption by the first operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.Empty(t, next.Requests.Writes("/namespaces/"+namespace))
	during := objects.NewDeployment("during", namespace).Labeled("logs", "vector").Build()
	untilInjects(t, asked, during)

	thaw, err := plane.Freeze("kube-apiserver")
	require.NoError(t, err)
	defer func() { require.NoError(t, thaw()) }()
	require.NoError(t, asked.Create(t.Context(), during))
	require.True(t, has(during, "vector"))
	harness.Eventually(t, "the adoption by the next operator", func() bool {
		return asked.Get(t.Context(), client.ObjectKeyFromObject(during), during) == nil && isAdopted("logs")(during)
	})
	require.NotEmpty(t, next.Requests.Writes("/namespaces/"+namespace+"/deployments/during"), "it was the next who did")
	require.EqualValues(t, 1, during.Generation)
	require.NoError(t, thaw())
	require.Error(t, first.Stop(), "it has lost its lease")
	world.Get(t, before)
	require.EqualValues(t, 1, before.Generation)
	require.NoError(t, next.Stop())
	running = world.RunOperator(options)
}
