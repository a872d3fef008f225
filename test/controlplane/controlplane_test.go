// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

const (
	soon = 20 * time.Second
	tick = 50 * time.Millisecond
)

// The checks of one control plane run in one test, because its start takes most of the time.
func TestStart_RunsCompleteControlPlane(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := controlplane.ForTest(t, controlplane.Options{Dir: dir, Nodes: 2, Log: lines{t}})
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)

	t.Run("a Deployment with a native sidecar becomes ready", func(t *testing.T) {
		_, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment("web"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			d, err := client.AppsV1().Deployments("default").Get(context.Background(), "web", metav1.GetOptions{})
			require.NoError(t, err)
			require.EqualValues(t, 2, d.Status.ReadyReplicas)
		}, soon, tick)

		pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
		require.NoError(t, err)
		require.Len(t, pods.Items, 2)
		for _, pod := range pods.Items {
			require.NotEmpty(t, pod.Spec.NodeName)
			sidecar := pod.Status.InitContainerStatuses[1]
			require.Equal(t, "vector", sidecar.Name)
			require.True(t, sidecar.Ready && *sidecar.Started && sidecar.State.Running != nil, "a native sidecar keeps running")
			require.NotNil(t, pod.Status.InitContainerStatuses[0].State.Terminated, "a plain init container has completed")
		}
		table := kubectl(t, c.Kubeconfig(), "get", "pods", "-l", "app=web")
		require.Equal(t, 2, strings.Count(table, "2/2"), "kubectl counts the native sidecar as a container:\n%s", table)
	})

	t.Run("a deleted Deployment takes its pods along", func(t *testing.T) {
		require.NoError(t, client.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			pods, err := client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{LabelSelector: "app=web"})
			require.NoError(t, err)
			require.Empty(t, pods.Items)
		}, soon, tick)
	})

	t.Run("a deleted Namespace goes", func(t *testing.T) {
		shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
		_, err := client.CoreV1().Namespaces().Create(t.Context(), shop, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}))
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			_, err := client.CoreV1().Namespaces().Get(context.Background(), "shop", metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err))
		}, soon, tick)
	})

	t.Run("a namespace that enforces the restricted standard refuses a pod that breaks it", func(t *testing.T) {
		strict := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "strict", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		}}
		_, err := client.CoreV1().Namespaces().Create(t.Context(), strict, metav1.CreateOptions{})
		require.NoError(t, err)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "loose"}, Spec: deployment("loose").Spec.Template.Spec}
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			_, err := client.CoreV1().Pods("strict").Create(context.Background(), pod, metav1.CreateOptions{})
			require.True(t, apierrors.IsForbidden(err))
			require.ErrorContains(t, err, "violates PodSecurity", "and not for want of a ServiceAccount")
		}, soon, tick)
	})

	t.Run("a ServiceAccount may do what RBAC grants, and nothing else", func(t *testing.T) {
		path, err := c.KubeconfigFor(t.Context(), "default", "default")
		require.NoError(t, err)
		config, err := clientcmd.BuildConfigFromFlags("", path)
		require.NoError(t, err)
		account, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		_, err = account.Discovery().ServerVersion()
		require.NoError(t, err)
		_, err = account.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "system:serviceaccount:default:default")
	})

	t.Run("an unknown ServiceAccount gets no kubeconfig", func(t *testing.T) {
		_, err := c.KubeconfigFor(t.Context(), "default", "nobody")
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	})

	t.Run("Stop ends every program, and may be called again", func(t *testing.T) {
		pids := programs(t, dir)
		require.Len(t, pids, 5)
		require.NoError(t, c.Stop())
		for name, pid := range pids {
			require.False(t, alive(pid), "%s (%d) is still there", name, pid)
		}
		require.NoError(t, c.Stop())
		require.FileExists(t, filepath.Join(dir, "logs", "kube-apiserver.log"), "a directory that the caller chose is kept")
	})
}

// After the API server was stopped and started again, it has the same objects.
func TestStopAPIServer_KeepsDataForRestart(t *testing.T) {
	t.Parallel()
	c := controlplane.ForTest(t, controlplane.Options{Log: lines{t}})
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), config, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, c.StopAPIServer())
	_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	require.Error(t, err)

	require.NoError(t, c.StartAPIServer())
	_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err, "the same client finds the same data again")

	require.NoError(t, c.Stop())
	require.NoDirExists(t, c.Dir(), "a directory of its own goes with Stop")
}

// killedVariable makes this test binary the process that is killed.
const killedVariable = "CONTROLPLANE_TEST_KILLED"

func TestForTest_StopsProgramsOfKilledTest(t *testing.T) {
	if dir := os.Getenv(killedVariable); dir != "" {
		controlplane.ForTest(t, controlplane.Options{Dir: dir})
		require.NoError(t, os.WriteFile(filepath.Join(dir, "started"), nil, 0o600))
		select {} // until killed
	}
	t.Parallel()
	dir := t.TempDir()
	killed := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	killed.Env = append(os.Environ(), killedVariable+"="+dir)
	require.NoError(t, killed.Start())
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "started"))
		return err == nil
	}, 2*soon, tick)
	pids := programs(t, dir)
	require.Len(t, pids, 2)

	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	require.Eventually(t, func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	}, soon, tick)
}

// deployment has two replicas of an application with a plain init container and a native sidecar.
func deployment(name string) *appsv1.Deployment {
	replicas, always := int32(2), corev1.ContainerRestartPolicyAlways
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{
						{Name: "prepare", Image: "example.org/prepare:1"},
						{Name: "vector", Image: "example.org/vector:1", RestartPolicy: &always},
					},
					Containers: []corev1.Container{{Name: "app", Image: "example.org/app:1"}},
				},
			},
		},
	}
}

func kubectl(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	path, err := controlplane.Bin("kubectl")
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig="+kubeconfig)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// programs returns the recorded process ids of the control plane in dir, by program.
func programs(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "run", "*.pid"))
	require.NoError(t, err)
	pids := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		pids[filepath.Base(file)] = pid
	}
	return pids
}

// alive reports whether a process runs. It is false for a zombie process.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// lines writes to the log of a test.
type lines struct{ t *testing.T }

func (l lines) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}
