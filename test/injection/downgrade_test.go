// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If the API server does not serve MutatingAdmissionPolicies any more, for example after a downgrade, workloads can
// still be created. The operator injects the sidecar itself, and the status reports why. When the API server serves
// them again, it injects by the existing OverlaySets. The test is not parallel, because it restarts the API server.
func TestOperator_InjectsWithoutMutatingPolicyAPI(t *testing.T) {
	require.NoError(t, running.Stop())
	looking := world.StartObserved(t, options, operator.Process{PolicyInterval: 200 * time.Millisecond})
	namespace := world.Namespace(t)
	vs := newInjectingSidecar("traces", namespace, "LOG_ADDRESS")
	world.Create(t, vs)
	awaitOverlay(t, vs)
	made := func(name string) *appsv1.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector").Build()
	}
	first := made("first")
	untilActive(t, first, "vector-otlp")
	world.Create(t, first)
	harness.Until(t, world, first, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("traces")(d) })
	saysSo := func(vs *v1alpha1.VectorSidecar) bool {
		return slices.ContainsFunc(vs.Status.Conditions, func(c metav1.Condition) bool {
			return strings.Contains(c.Message, "the API server does not serve MutatingAdmissionPolicies")
		})
	}
	world.Get(t, vs)
	require.False(t, saysSo(vs))

	const api = "admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
	require.NoError(t, plane.RestartAPIServer(t.Context(), map[string]string{"runtime-config": api + "=false", "disable-admission-plugins": "MutatingAdmissionPolicy"}))
	t.Cleanup(func() { running = world.RunOperator(options) })
	second := made("second")
	world.Create(t, second)
	require.False(t, has(second, "vector-otlp"))
	harness.Until(t, world, second, "the injection by the operator", func(d *appsv1.Deployment) bool { return isAdopted("traces")(d) && has(d, "vector-otlp") })
	harness.Until(t, world, vs, "the status with the message", saysSo)
	world.Get(t, first)
	require.EqualValues(t, 1, first.Generation, "nothing is taken out")

	require.NoError(t, plane.RestartAPIServer(t.Context(), map[string]string{"runtime-config": api + "=true", "disable-admission-plugins": ""}))
	third := made("third")
	untilActive(t, third, "vector-otlp")
	world.Create(t, third)
	require.True(t, has(third, "vector-otlp"))
	harness.Until(t, world, third, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("traces")(d) })
	require.EqualValues(t, 1, third.Generation)
	harness.Until(t, world, vs, "the status without the message", func(vs *v1alpha1.VectorSidecar) bool { return !saysSo(vs) })
	require.NoError(t, looking.Stop())
}
