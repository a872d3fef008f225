// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A change fails in the canary, and other workloads do not get it. The next change starts with the canary again.
func TestCanarySpec_KeepsFailedChangeInCanary(t *testing.T) {
	namespace := world.Namespace(t)
	var apps []*appsv1.Deployment
	for n := range 3 {
		app := objects.NewDeployment(fmt.Sprint("app-", n), namespace).Labeled("logs", "vector")
		if n == 1 {
			app = app.Labeled("first", "yes")
		}
		apps = append(apps, app.Build())
		world.Create(t, apps[n])
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	vs.Spec.Rollout.Canary = &v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"first": "yes"}}}
	world.Create(t, vs)
	harness.Until(t, world, vs, "readiness", isReady)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn", Image: "registry.example/vector:crashes"}
	})
	harness.Until(t, world, vs, "the failure", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "Deployment "+namespace+"/app-1: container vector")
	})
	for n, app := range apps {
		world.Get(t, app)
		require.Equal(t, n == 1, logLevel(app) == "warn", app.Name)
	}

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} })
	for _, app := range apps {
		harness.Until(t, world, app, "the next change", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	}
	harness.Until(t, world, vs, "readiness", isReady)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Rollout.Canary.Selector.MatchLabels["first"] = "nobody"
	})
	harness.Until(t, world, vs, "a missing object", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "spec.rollout.canary selects no workload")
	})
}

func TestCanarySpec_RequiresEitherWorkloadsOrSelector(t *testing.T) {
	two, most := intstr.FromInt32(2), intstr.FromString("150%")
	for want, canary := range map[string]*v1alpha1.CanarySpec{
		"needs either workloads or selector":              {},
		"spec.rollout.canary: Invalid value":              {Workloads: &two, Selector: &metav1.LabelSelector{}},
		"must be a number of at least 1, or a percentage": {Workloads: &most},
	} {
		vs := objects.NewVectorSidecar("logs", world.Namespace(t)).Selecting("logs", "vector").Build()
		vs.Spec.Rollout = &v1alpha1.RolloutSpec{Canary: canary}
		require.ErrorContains(t, world.Client.Create(t.Context(), vs), want)
	}
}
