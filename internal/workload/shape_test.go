// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Workloads with the same digest share a dry-run result, so the digest covers everything that admission may depend on.
func TestShapeDigest_ChangesWithAdmissionInput(t *testing.T) {
	ours := map[string]OwnedFields{"vectorsidecar/logs": {Containers: []string{"vector"}, Volumes: []string{"vectorsidecar-data"}}}
	bare := func(name string) *appsv1.Deployment {
		return objects.NewDeployment(name, "shop").Pod(func(spec *corev1.PodSpec) {
			spec.ServiceAccountName = name
			spec.Containers[0].Image = "registry.example/" + name
			spec.Containers[0].Resources = *objects.Requests("1", "1Gi")
		}).Build()
	}
	was := ShapeDigest(bare("cart"), ours)
	require.Equal(t, was, ShapeDigest(bare("search"), ours), "names, images and accounts of that name")
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		isSame bool
	}{
		"variables": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
		}, true},
		"the value of a label": {func(d *appsv1.Deployment) { d.Spec.Template.Labels["app"] = "other" }, true},
		"replicas":             {func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) }, true},
		"the sidecar": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "vector"}}
			d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "vectorsidecar-data"}}
		}, true},
		"a label": {func(d *appsv1.Deployment) { d.Spec.Template.Labels["team"] = "shop" }, false},
		"requests": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Resources = *objects.Requests("2", "1Gi")
		}, false},
		"a container": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{})
		}, false},
		"a volume": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}}
		}, false},
		"the account": {func(d *appsv1.Deployment) { d.Spec.Template.Spec.ServiceAccountName = "shared" }, false},
		"privileges":  {func(d *appsv1.Deployment) { d.Spec.Template.Spec.HostNetwork = true }, false},
		"the class":   {func(d *appsv1.Deployment) { d.Spec.Template.Spec.PriorityClassName = "high" }, false},
		"how pods are replaced": {func(d *appsv1.Deployment) {
			d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(0))}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := bare("cart")
			test.change(other)
			require.Equal(t, test.isSame, was == ShapeDigest(other, ours))
		})
	}
}

// A StatefulSet and a DaemonSet delete a pod before they create the next one. A Deployment and a CronJob do not.
func TestRemovesFirst_DependsOnKind(t *testing.T) {
	for kind, want := range map[string]bool{"Deployment": false, "StatefulSet": true, "DaemonSet": true, "CronJob": false} {
		of, _ := ToObject(objects.NewWorkload(kind, "cart", "shop", nil))
		require.Equal(t, want, RemovesFirst(of), kind)
	}
}
