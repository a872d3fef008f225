// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If pods share a log volume with a subPathExpr, each pod's sidecar mounts the same directory as its application.
func TestLogsSpec_MountsSubPathOfItsPod(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithEmptyDir("shared", "/var/log/app").
		Pod(func(pod *corev1.PodSpec) {
			app := &pod.Containers[0]
			app.VolumeMounts[0].SubPathExpr = "$(TENANT)/$(POD_NAME)"
			app.Env = []corev1.EnvVar{
				{Name: "TENANT", Value: "shop"},
				{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			}
		}).Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	app, sidecar := &deployment.Spec.Template.Spec.Containers[0], &deployment.Spec.Template.Spec.InitContainers[0]
	var mount corev1.VolumeMount
	for _, m := range sidecar.VolumeMounts {
		if m.Name == "shared" {
			mount = m
		}
	}
	require.Equal(t, app.VolumeMounts[0].SubPathExpr, mount.SubPathExpr)
	require.Subset(t, sidecar.Env, app.Env)

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env[0].Value = "mall" })
	harness.Until(t, world, deployment, "the sidecar to follow", func(d *appsv1.Deployment) bool {
		for _, variable := range d.Spec.Template.Spec.InitContainers[0].Env {
			if variable.Name == "TENANT" {
				return variable.Value == "mall"
			}
		}
		return false
	})

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Env[0] = corev1.EnvVar{Name: "TENANT", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "tenant"}, Key: "name"},
		}}
	})
	harness.Until(t, world, vs, "the rejection", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "the sidecar cannot get the variable TENANT: its value comes from a secretKeyRef"))
}
