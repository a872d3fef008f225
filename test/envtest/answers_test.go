// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// runsThrough runs the operator with requests that go through way, until the end of the test.
func runsThrough(t *testing.T, way *harness.Answers) {
	t.Helper()
	world.RunThrough(t, &running, options, way)
}

// A webhook answers each write of an unchanged workload with a conflict or with not found. The VectorSidecar reports
// it, and the operator retries at growing intervals.
func TestVectorSidecar_ReportsRepeatedFalseConflicts(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for name, answer := range map[string]apierrors.APIStatus{
		"conflict":  apierrors.NewConflict(deployments, "cart", errors.New(harness.Locked)),
		"not found": apierrors.NewNotFound(deployments, harness.Locked),
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			way := &harness.Answers{Path: "/namespaces/" + namespace + "/deployments/cart", With: answer}
			way.IsOn.Store(true)
			runsThrough(t, way)
			cart := objects.NewDeployment("cart", namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
			world.Create(t, cart, vs)

			said := "writing Deployment " + namespace + "/cart: conflict, although the object has not changed: "
			harness.Until(t, world, vs, "the reported message", func(vs *v1alpha1.VectorSidecar) bool {
				return strings.Contains(message(vs, meta.ConditionReady), said) && strings.Contains(message(vs, meta.ConditionReady), harness.Locked)
			})
			require.Equal(t, "True", condition(vs, meta.ConditionReconciling))
			require.LessOrEqual(t, way.Count.Load(), int32(6), "further and further apart")

			way.IsOn.Store(false)
			harness.Until(t, world, vs, "its sidecar", isUpToDate)
		})
	}
}

// The API server rejects the operator's finalizer. The VectorSidecar reports the error, nothing is injected, and the
// operator retries with a backoff.
func TestVectorSidecar_ReportsRejectedFinalizer(t *testing.T) {
	for name, answer := range harness.AnswersFor("vectorsidecars") {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			way := &harness.Answers{Path: "/namespaces/" + namespace + "/vectorsidecars/logs", With: answer}
			way.IsOn.Store(true)
			runsThrough(t, way)
			cart := objects.NewDeployment("cart", namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
			world.Create(t, cart, vs)

			harness.Until(t, world, vs, "the reported message", func(vs *v1alpha1.VectorSidecar) bool {
				return hasMessage(vs.Status.Conditions, "adding the finalizer of ")
			})
			require.LessOrEqual(t, way.Count.Load(), int32(20), "eight conflicts that may be transient, and one for each event of the change itself")
			world.Get(t, cart)
			require.True(t, isClean(cart), "nobody would take it out again")

			way.IsOn.Store(false)
			harness.Until(t, world, vs, "its sidecar", isUpToDate)
		})
	}
}

// A revision cannot be stored. The operator does not publish it, each VectorSidecar keeps the previous revision and
// reports the error, and a restart changes nothing. The number of attempts does not grow with the number of
// VectorSidecars.
func TestOperator_PublishesOnlyStoredRevisions(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	all := []*inWave{newInWave(t, "canary"), newInWave(t, "canary"), newInWave(t, "canary")}
	for _, one := range all {
		one.until(t, v1alpha1.RolloutComplete, "")
		harness.Until(t, world, one.vs, "its sidecar", isUpToDate)
		world.Get(t, one.app)
	}
	before, sidecar := all[0].vs.Status.Rollout.Revision, logLevel(all[0].app)
	way := &harness.Answers{
		Path: "/namespaces/" + options.Namespace + "/controllerrevisions",
		With: apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, "x", errors.New("locked by the security team")),
	}
	way.IsOn.Store(true)
	runsThrough(t, way)
	level(t, installation, "warn")

	isHeldBack := func(late string) {
		for _, one := range all {
			one.until(t, v1alpha1.RolloutWaiting, before)
			harness.Until(t, world, one.vs, "the reported message", func(vs *v1alpha1.VectorSidecar) bool {
				return strings.Contains(vs.Status.Rollout.Message, " cannot be stored: ") && strings.Contains(vs.Status.Rollout.Message, "locked by the security team")
			})
			require.Equal(t, "True", condition(one.vs, meta.ConditionReady))
		}
		came := all[0].late(t, late)
		harness.Until(t, world, came, "the sidecar of the previous revision", hasSidecar)
		require.Equal(t, sidecar, logLevel(came))
		require.LessOrEqual(t, way.Count.Swap(0), int32(6))
	}
	isHeldBack("late")
	runsThrough(t, way)
	level(t, installation, "error")
	isHeldBack("after-a-restart")
	level(t, installation, "warn")

	way.IsOn.Store(false)
	for _, one := range all {
		harness.Until(t, world, one.app, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	}
}
