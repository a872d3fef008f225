// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A change of a workload that no decision depends on starts no reconcile.
func TestSource_IgnoresIrrelevantChanges(t *testing.T) {
	cart := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log").Build()
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"nothing":               {func(*appsv1.Deployment) {}, false},
		"a new version":         {func(d *appsv1.Deployment) { d.ResourceVersion, d.Generation, d.Status.ObservedGeneration = "2", 7, 7 }, false},
		"a count in the status": {func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 1 }, false},
		"its revision": {func(d *appsv1.Deployment) {
			d.Annotations = map[string]string{"deployment.kubernetes.io/revision": "2"}
		}, false},
		"the application's image":       {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "app:2" }, false},
		"a variable of the application": {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}} }, false},
		"a label":                       {func(d *appsv1.Deployment) { d.Labels["logs"] = "none" }, true},
		"a rollout that finishes": {func(d *appsv1.Deployment) {
			d.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
		}, true},
		"a container": {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Name = "web" }, true},
		"a volume":    {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = nil }, true},
		"a pause":     {func(d *appsv1.Deployment) { d.Spec.Paused = true }, true},
		"an opt-out":  {func(d *appsv1.Deployment) { d.Annotations = map[string]string{meta.AnnotationInject: "false"} }, true},
	} {
		changed := cart.DeepCopy()
		test.change(changed)
		reducer := workloadcache.New()
		require.Equal(t, test.want, !reducer.Reduce(changed).EquivalentTo(reducer.Reduce(cart)), name)
	}
}
