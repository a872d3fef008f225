// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/node"
)

// On a node without IPv4, the product can be installed, and the operator, the webhook and the probes work. A sidecar
// that listens on IPv4 addresses is restarted repeatedly.
func TestIPFamily_SupportsNodesWithoutIPv4(t *testing.T) {
	if os.Getenv(node.FamilyVariable) != "IPv6" {
		t.Skipf("SKIPPED: it is for a node of its own: %s=IPv6", node.FamilyVariable)
	}
	installed(t, webhook, "environments.before.global.ipFamily=IPv4")
	t.Run("of pods", func(t *testing.T) {
		t.Run("the kubelet finds Vector alive", func(t *testing.T) {
			t.Parallel()
			pod := injected(t)
			require.Nil(t, net.ParseIP(pod.Status.PodIP).To4(), "%s is of IPv6", pod.Status.PodIP)
			readLogs(t, pod, `"message":"`+pod.Name)
			client := http.Client{Timeout: 5 * time.Second}
			response, err := client.Get(fmt.Sprintf("http://%s/metrics", net.JoinHostPort(pod.Status.PodIP, "9598")))
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			lives(t, pod)
		})
		t.Run("with addresses of IPv4 it kills it", func(t *testing.T) {
			t.Parallel()
			space := restricted(t)
			app := writer("app", space).Build()
			world.Create(t, app, collecting(space).InEnvironment("before").Build())
			pod := running(t, app, true)
			eventually(t, "the sidecar to be started anew", func() bool {
				require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
				return statusOf(pod, sidecar).RestartCount > 0
			})
		})
	})
}

// lives waits until the kubelet would have killed a container whose probe fails, and two more periods.
func lives(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	probe := containerOf(pod, sidecar).LivenessProbe
	pass(t.Context(), time.Duration(probe.PeriodSeconds*(probe.FailureThreshold+2))*time.Second)
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	require.Zero(t, statusOf(pod, sidecar).RestartCount)
	require.True(t, isReady(pod))
}
