// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// samples is how many pods a figure is taken of.
const samples = 5

// readLogs waits until a pod's sidecar has printed each of these, and returns what it printed.
func readLogs(t *testing.T, pod *corev1.Pod, texts ...string) string {
	t.Helper()
	var printed string
	eventually(t, fmt.Sprintf("the sidecar to say %q", texts), func() bool {
		printed, _ = try(t, "kubectl", "logs", pod.Name, "--namespace="+pod.Namespace, "--container="+sidecar)
		for _, text := range texts {
			if !strings.Contains(printed, text) {
				return false
			}
		}
		return true
	})
	return printed
}

// listPods are the pods of an application that runs with its sidecar.
func listPods(t *testing.T, app *appsv1.Deployment) []corev1.Pod {
	t.Helper()
	running(t, app, true)
	return podsOf(t, app.Name, app.Namespace)
}

// With reload: Live, a change reaches Vector when the kubelet has updated the ConfigMap in the pod. A change that
// Vector rejects has no effect.
func testLiveReload(t *testing.T) {
	needsVector(t)
	space := restricted(t)
	app := writer("app", space).WithReplicas(samples).Build()
	config := func(text string) func(*v1alpha1.SidecarSpec) {
		return func(s *v1alpha1.SidecarSpec) {
			s.Reload, s.LogLevel, s.Config = "Live", "info", &v1alpha1.ConfigSpec{Inline: text, Check: "Off"}
			s.Resources = nil
		}
	}
	asked := collecting(space).Sidecar(config(openAPI)).Sidecar(func(s *v1alpha1.SidecarSpec) { s.Logs = nil }).Build()
	world.Create(t, app, asked)
	pods := listPods(t, app)
	for _, change := range []struct{ what, text, says string }{
		{"taken over", strings.Replace(openAPI, "*.log", "*.l*", 1), "Vector has reloaded"},
		{"refused", openAPI + "  broken: {type: console, inputs: [nobody], encoding: {codec: json}}\n", "Configuration error"},
	} {
		eventually(t, "the change to be let through", func() bool { // An operator that has just begun refuses it.
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(asked), asked))
			before := asked.DeepCopy()
			config(change.text)(asked.Spec.Sidecar)
			return cluster.Patch(t.Context(), asked, client.MergeFrom(before)) == nil
		})
		began := time.Now()
		var after []time.Duration
		for i := range pods {
			readLogs(t, &pods[i], change.says)
			after = append(after, time.Since(began))
		}
		t.Logf("a changed configuration is %s %s after the VectorSidecar was changed", change.what, seconds(after))
	}
	for _, pod := range listPods(t, app) {
		require.Zero(t, statusOf(&pod, sidecar).RestartCount, "it goes on with what it had")
	}
}

// If the sidecar cannot be started again, its pod is not ready, and the application is removed from its Service until
// a user fixes the error.
func testServiceWhileSidecarFails(t *testing.T) {
	needsVector(t)
	for _, native := range []v1alpha1.NativeMode{"Always", "Never"} {
		t.Run(fmt.Sprintf("native %s", native), func(t *testing.T) {
			t.Parallel()
			space := restricted(t)
			app := writer("app", space).WithReplicas(samples).Build()
			world.Create(t, app, collecting(space).Sidecar(func(s *v1alpha1.SidecarSpec) { s.Native = native }).Build())
			pods := listPods(t, app)
			processes := make([]int, len(pods))
			for i := range pods {
				processes[i] = processOf(t, statusOf(&pods[i], sidecar).ContainerID)
				// Vector cannot read its data directory any more.
				require.NoError(t, os.Chmod(fmt.Sprintf("/proc/%d/root/var/lib/vector", processes[i]), 0))
			}
			killed := time.Now()
			for _, process := range processes {
				require.NoError(t, syscall.Kill(process, syscall.SIGKILL))
			}
			var left []time.Duration
			isOut := map[string]bool{}
			eventually(t, "all pods to end with exit code 78, and not to be ready", func() bool {
				failed := 0
				for _, pod := range podsOf(t, app.Name, space) {
					if !isReady(&pod) && !isOut[pod.Name] {
						isOut[pod.Name] = true
						left = append(left, time.Since(killed))
					}
					if end := lastEnd(&pod); end != nil && end.ExitCode == 78 && statusOf(&pod, sidecar).RestartCount > 1 && !isReady(&pod) {
						failed++
					}
				}
				return failed == samples
			})
			t.Logf("sidecar cannot be started again (exit code 78): the application leaves its Service after %s, and stays out", seconds(left))
		})
	}
}

// Each case is a volume of the pod, and whether the sidecar, which runs as another user than the application, can
// read its files.
func testOtherUsers(t *testing.T) {
	needsVector(t)
	for name, each := range map[string]struct {
		mode    string
		group   *int64
		isRead  bool
		replies string
	}{
		"readable for all":                       {"0644", nil, true, ""},
		"readable for its owner alone":           {"0600", nil, false, "Permission denied"},
		"readable for the group of fsGroup":      {"0640", ptr.To[int64](2000), true, ""},
		"for its owner alone, also with fsGroup": {"0600", ptr.To[int64](2000), false, "Permission denied"},
		"readable for a group, without fsGroup":  {"0640", nil, false, "Permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := restricted(t)
			app := writer("app", space, "--mode="+each.mode).Pod(func(pod *corev1.PodSpec) { pod.SecurityContext.FSGroup = each.group }).Build()
			world.Create(t, app, collecting(space).Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = "info" }).Build())
			pod := running(t, app, true)
			began := time.Now()
			if !each.isRead {
				printed := readLogs(t, pod, each.replies)
				took(t, "until Vector's log says that it may not read a file", began)
				for line := range strings.Lines(printed) {
					if strings.Contains(line, each.replies) {
						t.Log(line)
						break
					}
				}
				return
			}
			readLogs(t, pod, `"message":"`+pod.Name)
		})
	}
}
