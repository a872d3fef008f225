// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// An application is in its Service while its pod is ready. A pod is not ready if one of its containers does not run,
// including the sidecar. The kubelet restarts the sidecar at once the first time, and then after 10 s.
func testServiceWhileSidecarRestarts(t *testing.T) {
	const pods = 5
	for _, native := range []v1alpha1.NativeMode{"Always", "Never"} {
		t.Run(fmt.Sprintf("native %s", native), func(t *testing.T) {
			t.Parallel()
			space := restricted(t)
			app := writer("app", space).WithReplicas(pods).Build()
			world.Create(t, app, collecting(space).Sidecar(func(s *v1alpha1.SidecarSpec) { s.Native = native }).Build())
			running(t, app, true)
			for round := range 2 {
				left, back := outOfService(t, app)
				require.Len(t, back, pods)
				t.Logf("sidecar killed, time %d: %d of %d applications leave their Service, after %s, and all are there after %s",
					round+1, len(left), pods, seconds(left), seconds(back))
			}
		})
	}
}

// outOfService kills the sidecars of an application. It returns for each pod the time until it was not ready, and the
// time until it was ready with another sidecar. The kubelet reports only the last state of a pod. If the sidecar
// already runs again by then, the pod is never reported as not ready and stays in its Service.
func outOfService(t *testing.T, app *appsv1.Deployment) (left, back []time.Duration) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(machine.Config())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	now, err := clients.CoreV1().Pods(app.Namespace).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	events, err := clients.CoreV1().Pods(app.Namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: now.ResourceVersion})
	require.NoError(t, err)
	defer events.Stop()
	// By the name of the pod; of before the kill.
	restarts, processes := map[string]int32{}, map[string]int{}
	for i := range now.Items {
		if pod := &now.Items[i]; pod.DeletionTimestamp == nil { // Else it was there before the sidecar.
			restarts[pod.Name], processes[pod.Name] = statusOf(pod, sidecar).RestartCount, processOf(t, statusOf(pod, sidecar).ContainerID)
		}
	}
	killed := time.Now()
	for _, process := range processes {
		require.NoError(t, syscall.Kill(process, syscall.SIGKILL))
	}
	isOut := map[string]bool{}
	for event := range events.ResultChan() {
		pod, is := event.Object.(*corev1.Pod)
		require.True(t, is, "%+v", event.Object)
		before, isAwaited := restarts[pod.Name]
		switch {
		case !isAwaited:
		case !isReady(pod) && !isOut[pod.Name]:
			isOut[pod.Name] = true
			left = append(left, time.Since(killed))
		case isReady(pod) && statusOf(pod, sidecar).RestartCount > before:
			back = append(back, time.Since(killed))
			delete(restarts, pod.Name)
		}
		if len(restarts) == 0 {
			return left, back
		}
	}
	require.FailNow(t, "pods are not ready with another sidecar", "restarts before: %v", restarts)
	return nil, nil
}
