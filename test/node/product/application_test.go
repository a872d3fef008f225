// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	logs    = "/var/log/app"
	sidecar = "vector"
)

// writer is an application that writes lines to a folder that it shares, and that passes
// the restricted Pod Security Standard.
func writer(name, space string, args ...string) *example.Deployment {
	return example.NewDeployment(name, space).Labeled("logs", "vector").WithEmptyDir("logs", logs).Pod(func(pod *corev1.PodSpec) {
		pod.SecurityContext = &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
		app := &pod.Containers[0]
		app.Image, app.Args = node.Programs, append([]string{"write", "--path=" + logs}, args...)
		app.SecurityContext = &corev1.SecurityContext{
			RunAsUser: ptr.To[int64](10001), AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	})
}

// collecting is a VectorSidecar of these applications, with the Vector that is here.
func collecting(space string) *example.VectorSidecar {
	return example.NewVectorSidecar("logs", space).Selecting("logs", "vector").WithLogs(logs).WithImage(node.Vector).
		Sidecar(func(s *v1alpha1.SidecarSpec) { s.ImagePullPolicy = corev1.PullNever })
}

// podsOf are the pods of an application that are not on their way out.
func podsOf(t *testing.T, name, space string) []corev1.Pod {
	t.Helper()
	isEnding := func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil }
	return slices.DeleteFunc(podsIn(t, space, client.MatchingLabels{"app": name}), isEnding)
}

// running waits until all pods of an application run, with the sidecar or without it, and
// returns the first of them.
func running(t *testing.T, deployment *appsv1.Deployment, isInjected bool) *corev1.Pod {
	t.Helper()
	var found []corev1.Pod
	eventually(t, "pods of "+deployment.Name+" to run", func() bool {
		found = podsOf(t, deployment.Name, deployment.Namespace)
		for i := range found {
			if (statusOf(&found[i], sidecar) != nil) != isInjected || !isReady(&found[i]) {
				return false
			}
		}
		return len(found) == int(*deployment.Spec.Replicas)
	})
	return &found[0]
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func scale(t *testing.T, app *appsv1.Deployment, replicas int32) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas))
	require.NoError(t, cluster.Patch(t.Context(), app.DeepCopy(), patch))
	app.Spec.Replicas = ptr.To(replicas)
}

// statusOf is that of a container, nil if the pod has none of this name.
func statusOf(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, all := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range all {
			if all[i].Name == name {
				return &all[i]
			}
		}
	}
	return nil
}

func isRunning(status *corev1.ContainerStatus) bool {
	return status != nil && status.State.Running != nil
}
