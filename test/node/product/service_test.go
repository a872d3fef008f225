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

// An application is in its Service as long as its pod is ready, and a pod is not while one
// of its containers does not run, also if that is the sidecar. The kubelet starts that
// anew: the first time at once, then after 10 s.
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
				left, out := outOfService(t, app)
				t.Logf("sidecar killed, time %d: the application leaves its Service after %s, and is back after %s", round+1, seconds(left), seconds(out))
			}
		})
	}
}

// outOfService kills the sidecars of an application, and returns for each pod after how
// long it was not ready, and ready again.
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
	// The restarts of a pod's sidecar, as long as it is out.
	restarts, isOut, killed := map[string]int32{}, map[string]bool{}, map[string]time.Time{}
	for i := range now.Items {
		pod := &now.Items[i]
		if pod.DeletionTimestamp != nil {
			continue // It was there before the sidecar.
		}
		restarts[pod.Name] = statusOf(pod, sidecar).RestartCount
		require.NoError(t, syscall.Kill(processOf(t, statusOf(pod, sidecar).ContainerID), syscall.SIGKILL))
		killed[pod.Name] = time.Now()
	}
	for event := range events.ResultChan() {
		pod, is := event.Object.(*corev1.Pod)
		require.True(t, is)
		_, isKilled := killed[pod.Name]
		switch {
		case !isKilled:
		case !isReady(pod) && !isOut[pod.Name]:
			isOut[pod.Name] = true
			left = append(left, time.Since(killed[pod.Name]))
		case isReady(pod) && isOut[pod.Name] && statusOf(pod, sidecar).RestartCount > restarts[pod.Name]:
			back = append(back, time.Since(killed[pod.Name]))
			delete(isOut, pod.Name)
		}
		if len(back) == len(killed) {
			return left, back
		}
	}
	require.FailNow(t, "pods are not ready again", "%v", isOut)
	return nil, nil
}
