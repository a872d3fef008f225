// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// All parts share one release of the chart, because they mostly wait. The number of parallel parts is limited, because
// two cores are not enough for the pods of all.
func TestSidecar_RunsOnRealNode(t *testing.T) {
	installed(t, webhook, "rbac.optional.pods=true", "rbac.optional.serviceAccounts=true", "policy.imagePullSecrets.allowed={"+mirror+"}", kinds)
	sideBySide(t, []test{
		{"a live change reaches it, and a broken one does not", testLiveReload},
		{"no line of a StatefulSet is lost", testDelivered("StatefulSet", 2)},
		{"faults", testFaultsReachTheStatus},
		{"it ends with exit codes of Vector", testExitCodes},
		{"one that hangs is started anew", testHungIsRestarted},
		{"no line of a DaemonSet is lost", testDelivered("DaemonSet", 1)},
		{"its application is out of its Service until it runs again", testServiceWhileSidecarRestarts},
		{"its application is out of its Service if it cannot run again", testServiceWhileSidecarFails},
		{"a StatefulSet rolls out with it, and without", testLongRunning("StatefulSet", 2)},
		{"a DaemonSet rolls out with it, and without", testLongRunning("DaemonSet", 1)},
		{"a CronJob's runs end with it", testRunsEnd},
		{"it starts before the application and ends after it", testOrder},
		{"its image is pulled with a Secret of its own", testPullSecrets},
		{"its socket is there again after it was killed", testSocketOfAKilledSidecar},
		{"as the application's user it reads what nobody else may", testUserOfTheApplication},
		{"it reads what other users let it", testOtherUsers},
		{"only its metrics answer on the pod's address", testOnlyMetricsAnswer},
		{"it passes the restricted standard and writes nowhere", testRestricted},
		{"who reaches the pod reads no events", testNobodyTaps},
	})
}

// A test with its name.
type test struct {
	name string
	run  func(*testing.T)
}

// sideBySide runs tests that mostly wait, in their order. The longest ones are first, because not all run at once.
func sideBySide(t *testing.T, tests []test) {
	t.Helper()
	for _, each := range tests {
		t.Run(each.name, func(t *testing.T) {
			t.Parallel()
			each.run(t)
		})
	}
}

func testOnlyMetricsAnswer(t *testing.T) {
	pod := injected(t)
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(fmt.Sprintf("http://%s/metrics", net.JoinHostPort(pod.Status.PodIP, "9598")))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	_, err = net.DialTimeout("tcp", net.JoinHostPort(pod.Status.PodIP, "8686"), 5*time.Second)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.Equal(t, "/metrics", containerOf(pod, sidecar).LivenessProbe.HTTPGet.Path)
}

// injected is a pod that runs with its sidecar.
func injected(t *testing.T, args ...string) *corev1.Pod {
	t.Helper()
	space := restricted(t)
	app := writer("app", space, args...).Pod(func(pod *corev1.PodSpec) { pod.TerminationGracePeriodSeconds = ptr.To[int64](20) }).Build()
	world.Create(t, app, collecting(space).Build())
	return running(t, app, true)
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	for _, all := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range all {
			if all[i].Name == name {
				return &all[i]
			}
		}
	}
	return nil
}

func testHungIsRestarted(t *testing.T) {
	pod := injected(t)
	pid := processOf(t, statusOf(pod, sidecar).ContainerID)
	began := time.Now()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	eventually(t, "the sidecar to be started anew", func() bool {
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
		status := statusOf(pod, sidecar)
		return status.RestartCount > 0 && isRunning(status)
	})
	took(t, "from SIGSTOP to a sidecar that runs again", began)
	require.Zero(t, statusOf(pod, "app").RestartCount, "the application goes on")
}

// processOf returns the process of a container, found by the name of its cgroup.
func processOf(t *testing.T, container string) int {
	t.Helper()
	_, id, _ := strings.Cut(container, "://")
	all, err := filepath.Glob("/proc/[0-9]*/cgroup")
	require.NoError(t, err)
	for _, path := range all {
		text, _ := os.ReadFile(path) // It may have ended.
		if id != "" && strings.Contains(string(text), id) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(t, err)
			return pid
		}
	}
	require.FailNow(t, "no process", container)
	return 0
}

// The application ends slowly, and the sidecar reads until it has ended.
func testOrder(t *testing.T) {
	pod := injected(t, "--after=4s")
	started := statusOf(pod, "app").State.Running.StartedAt
	require.False(t, started.Before(&statusOf(pod, sidecar).State.Running.StartedAt))
	app, vector := ends(t, pod)
	require.NotNil(t, app)
	require.NotNil(t, vector)
	require.Zero(t, app.ExitCode)
	require.Zero(t, vector.ExitCode)
	require.False(t, vector.FinishedAt.Before(&app.FinishedAt), "application %s, sidecar %s", app.FinishedAt, vector.FinishedAt)
}

// ends deletes a pod, and returns how its containers ended, as the kubelet has told.
func ends(t *testing.T, pod *corev1.Pod) (app, vector *corev1.ContainerStateTerminated) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(machine.Config())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events, err := clients.CoreV1().Pods(pod.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + pod.Name})
	require.NoError(t, err)
	defer events.Stop()
	began := time.Now()
	require.NoError(t, cluster.Delete(ctx, pod))
	for event := range events.ResultChan() {
		now, is := event.Object.(*corev1.Pod)
		require.True(t, is)
		if status := statusOf(now, "app"); status.State.Terminated != nil {
			app = status.State.Terminated
		}
		if status := statusOf(now, sidecar); status.State.Terminated != nil {
			vector = status.State.Terminated
		}
		if event.Type == "DELETED" {
			took(t, "from the pod's deletion to its end", began)
			return app, vector
		}
	}
	require.FailNow(t, "the pod did not end")
	return nil, nil
}

// The namespace accepts only pods of the restricted level. The sidecar may write only to its own volume.
func testRestricted(t *testing.T) {
	pod := injected(t)
	own := containerOf(pod, sidecar).SecurityContext
	require.True(t, *own.ReadOnlyRootFilesystem)
	require.True(t, *own.RunAsNonRoot)
	require.False(t, *own.AllowPrivilegeEscalation)
	process := fmt.Sprintf("/proc/%d", processOf(t, statusOf(pod, sidecar).ContainerID))
	mounts, err := os.ReadFile(process + "/mounts")
	require.NoError(t, err)
	options := map[string]string{}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		options[fields[1]] = fields[3]
	}
	for at, want := range map[string]string{"/": "ro", "/etc/vector": "ro", logs: "ro", "/var/lib/vector": "rw"} {
		require.Equal(t, want, strings.SplitN(options[at], ",", 2)[0], at)
	}
	status, err := os.ReadFile(process + "/status")
	require.NoError(t, err)
	require.Regexp(t, "CapEff:\\s+0+\n", string(status))
	require.Regexp(t, "NoNewPrivs:\\s+1\n", string(status))
	require.Zero(t, statusOf(pod, sidecar).RestartCount)
}
