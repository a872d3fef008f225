// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// removing returns a VectorSidecar whose Vector deletes rotated files.
func removing(namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) {
		yes := true
		s.Logs.Cleanup = &v1alpha1.CleanupSpec{Rotated: []string{"*.log.*"}, EvenUnacknowledged: &yes}
	})
}

// logMount returns the sidecar's mount of the log volume.
func logMount(t *testing.T, pod *corev1.PodSpec) corev1.VolumeMount {
	t.Helper()
	for i := range pod.InitContainers {
		for _, mount := range pod.InitContainers[i].VolumeMounts {
			if mount.MountPath == "/var/log/app" {
				return mount
			}
		}
	}
	t.Fatal("no sidecar mounts the log volume")
	return corev1.VolumeMount{}
}

// With logs.cleanup, the sidecar may delete files in the log volume. Its pods still meet the restricted Pod Security
// level.
func TestCleanupSpec_MeetsRestrictedPodSecurity(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t, "pod-security.kubernetes.io/enforce", "restricted")
	no, yes := false, true
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Pod(func(pod *corev1.PodSpec) {
		pod.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		pod.Containers[0].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	}).Build()
	vs := removing(namespace).Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	require.False(t, logMount(t, &deployment.Spec.Template.Spec).ReadOnly)
	harness.Until(t, world, deployment, "pods with the sidecar", isRolledOut)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Logs.Cleanup = nil })
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	require.True(t, logMount(t, &deployment.Spec.Template.Spec).ReadOnly, "without it, the volume is to read again")
}

// If the log volume is a claim of the application owner, the operator does not inject a sidecar that deletes its
// files, and reports that. The API server rejects a removeAfter that is too short.
func TestCleanupSpec_KeepsFilesOfVolumeClaims(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Pod(func(pod *corev1.PodSpec) {
		pod.Volumes[0].VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "logs"}}
	}).Build()
	vs := removing(namespace).Build()
	world.Create(t, deployment, vs)
	before := rawTemplate(t, deployment)
	harness.Until(t, world, vs, "the rejection", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), `would remove files from the workload's own volume "logs", of kind persistentVolumeClaim`)
	})
	require.JSONEq(t, before, rawTemplate(t, deployment))

	bad := removing(namespace).Build()
	bad.ObjectMeta = metav1.ObjectMeta{Name: "bad", Namespace: namespace}
	bad.Spec.Sidecar.Logs.Cleanup.RemoveAfter = "5s"
	require.ErrorContains(t, world.Client.Create(t.Context(), bad), "removeAfter")
}
