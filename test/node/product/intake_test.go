// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Files of mode 0600 are readable only by their user, and by default the sidecar is another user.
func testUserOfTheApplication(t *testing.T) {
	space := restricted(t)
	app := writer("app", space, "--mode=0600").Build()
	world.Create(t, app, collecting(space).Sidecar(func(s *v1alpha1.SidecarSpec) { s.User = "Application" }).Build())
	pod := running(t, app, true)
	require.Equal(t, int64(10001), *containerOf(pod, sidecar).SecurityContext.RunAsUser)
	readLogs(t, pod, `"message":"`+pod.Name)

	other := restricted(t)
	app = writer("app", other, "--mode=0600").Build()
	world.Create(t, app, collecting(other).Sidecar(func(s *v1alpha1.SidecarSpec) { s.User = "Fixed" }).Build())
	pod = running(t, app, true)
	require.NotContains(t, readLogs(t, pod, "ermission denied"), `"message":"`+pod.Name)
}

// If Vector is killed, the file of its socket remains, and the next Vector exits if it exists. The drain gate removes
// it.
func testSocketOfAKilledSidecar(t *testing.T) {
	const path = "/run/vector/vector.sock"
	space := restricted(t)
	app := writer("app", space).Pod(func(pod *corev1.PodSpec) { pod.Containers[0].Args = []string{"speak", path} }).Build()
	world.Create(t, app, example.NewVectorSidecar("logs", space).Selecting("logs", "vector").WithImage(node.Vector).
		Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.ImagePullPolicy = corev1.PullNever
			s.Socket = &v1alpha1.SocketSpec{Enabled: ptr.To(true), Mode: "unix", Path: path}
			s.Shutdown = &v1alpha1.ShutdownSpec{Gate: &v1alpha1.DrainGateSpec{Resources: example.Requests("1m", "8Mi")}}
		}).Build())
	pod := running(t, app, true)
	readLogs(t, pod, `"message":"`+pod.Name)

	began := time.Now()
	require.NoError(t, syscall.Kill(processOf(t, statusOf(pod, sidecar).ContainerID), syscall.SIGKILL))
	eventually(t, "the sidecar to be started anew", func() bool {
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
		return statusOf(pod, sidecar).RestartCount > 0
	})
	readLogs(t, pod, `"message":"`+pod.Name)
	took(t, "from SIGKILL to a line on the new socket", began)
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	for _, name := range []string{"app", drainGate} {
		require.Zero(t, statusOf(pod, name).RestartCount, "%s goes on", name)
	}
}
