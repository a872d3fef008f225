// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

// StandIn replaces kubelets: it runs the containers of the chart's pods, with the same program, arguments and
// permissions.
type StandIn struct {
	// Plane runs everything except containers.
	Plane *controlplane.ControlPlane
	// Client is the client of the administrator.
	Client client.Client
	// Namespace is the namespace of the release.
	Namespace string
	// Host is the address of the pod, and Metrics and Health are where the operator
	// serves there.
	Host, Metrics, Health string

	mu      sync.Mutex
	program string // "operator" in bin if it is not given
	logs    []string
	said    *transcript // what the operator that was started last has logged
}

// NewStandIn returns a stand-in for the pods of a release in a namespace.
func NewStandIn(t testing.TB, plane *controlplane.ControlPlane, c client.Client, namespace string) *StandIn {
	t.Helper()
	return NewStandInAt(t, plane, c, namespace, "127.0.0.1")
}

// NewStandInAt returns a stand-in for a pod with its own address, so that several pods can use the same port.
func NewStandInAt(t testing.TB, plane *controlplane.ControlPlane, c client.Client, namespace, host string) *StandIn {
	t.Helper()
	metrics, metricsErr := freeport.Address(host)
	health, healthErr := freeport.Address(host)
	require.NoError(t, errors.Join(metricsErr, healthErr))
	return &StandIn{Plane: plane, Client: c, Namespace: namespace, Host: host, Metrics: metrics, Health: health}
}

// Runs sets the operator's program for pods that start later, by its path in bin.
func (s *StandIn) Runs(program string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.program = program
}

// path is that of the operator's program.
func (s *StandIn) path() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Plane.Bin(cmp.Or(s.program, "operator"))
}

// Operator starts the operator of a Deployment and probes it as a kubelet does. The returned function stops it with a
// signal; the end of the test stops it otherwise.
func (s *StandIn) Operator(t testing.TB, deployment string) (end func(os.Signal)) {
	t.Helper()
	var installed appsv1.Deployment
	require.NoError(t, s.Client.Get(t.Context(), types.NamespacedName{Namespace: s.Namespace, Name: deployment}, &installed))
	pod := &installed.Spec.Template.Spec
	log := &transcript{}
	cmd, err := s.command(context.WithoutCancel(t.Context()), t.TempDir(), pod)
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	s.mu.Lock()
	s.said = log
	s.mu.Unlock()
	probing, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var probe sync.WaitGroup
	probe.Go(func() {
		for probing.Err() == nil {
			s.IsReady(probing)
			pause(probing)
		}
	})
	var once sync.Once
	end = func(signal os.Signal) {
		once.Do(func() {
			_ = cmd.Process.Signal(signal) // It may have ended.
			_ = cmd.Wait()
			stop()
			probe.Wait()
			if t.Failed() {
				t.Logf("the operator's log:\n%s", log)
			}
		})
	}
	t.Cleanup(func() { end(os.Interrupt) })
	return end
}

// IsReady returns the result of the readiness probe.
func (s *StandIn) IsReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Health+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Log returns the log of the last started operator so far.
func (s *StandIn) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// Hooks runs the containers of the release's Jobs and test Pods when they are created, and writes their results to
// the status, until the test ends.
func (s *StandIn) Hooks(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	folder := t.TempDir()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.RunHooks(ctx, folder)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("hooks:\n%s", strings.Join(s.Said(), "\n"))
		}
	})
}

// RunHooks does the same as Hooks until the context ends, with a directory for files.
func (s *StandIn) RunHooks(ctx context.Context, folder string) {
	done := map[types.UID]bool{}
	for ctx.Err() == nil {
		if err := s.look(ctx, folder, done); err != nil && ctx.Err() == nil {
			s.note("looking for hooks: " + err.Error())
		}
		pause(ctx)
	}
}

// Said is what hooks have printed so far, an entry each.
func (s *StandIn) Said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.logs...)
}

func (s *StandIn) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(s.logs, text)
}

func (s *StandIn) look(ctx context.Context, folder string, done map[types.UID]bool) error {
	var pods corev1.PodList
	if err := s.Client.List(ctx, &pods, client.InNamespace(s.Namespace), client.HasLabels{"app.kubernetes.io/instance"}); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		isHook := len(pod.Spec.Containers[0].Args) > 0 && !strings.HasPrefix(pod.Spec.Containers[0].Args[0], "-")
		if !isHook || done[pod.UID] || hasEnded(pod) {
			continue
		}
		done[pod.UID] = true
		if err := s.hook(ctx, folder, pod); err != nil {
			return err
		}
	}
	return nil
}

// hasEnded is true of what is left of a release before, too.
func hasEnded(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// hook runs the container of a pod to its end and writes the result to the pod's status.
func (s *StandIn) hook(ctx context.Context, folder string, pod *corev1.Pod) error {
	cmd, err := s.command(ctx, folder, &pod.Spec)
	if err != nil {
		return err
	}
	out, err := cmd.CombinedOutput()
	s.note(pod.Name + ": " + string(out))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	before := pod.DeepCopy()
	ended := corev1.ContainerStateTerminated{Reason: "Completed"}
	pod.Status.Phase = corev1.PodSucceeded
	if !cmd.ProcessState.Success() {
		ended = corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1}
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Terminated: &ended},
	}}
	return client.IgnoreNotFound(s.Client.Status().Patch(ctx, pod, client.MergeFrom(before)))
}

// command returns the command of a pod's only container, with paths and addresses of this machine.
func (s *StandIn) command(ctx context.Context, folder string, pod *corev1.PodSpec) (*exec.Cmd, error) {
	if len(pod.Containers) != 1 {
		return nil, fmt.Errorf("the pod has %d containers", len(pod.Containers))
	}
	program, err := s.path()
	if err != nil {
		return nil, err
	}
	kubeconfig, err := s.Plane.KubeconfigFor(ctx, s.Namespace, pod.ServiceAccountName)
	if err != nil {
		return nil, err
	}
	var args []string
	for _, arg := range pod.Containers[0].Args {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--metrics-bind-address":
			arg = name + "=" + s.Metrics
		case "--webhook-bind-address": // Its port is known to the API server.
			arg = name + "=" + s.Host + strings.TrimPrefix(arg, name+"=")
		case "--health-probe-bind-address":
			arg = name + "=" + s.Health
		case "--metrics-url":
			arg = name + "=https://" + s.Metrics + "/metrics"
		}
		args = append(args, strings.Replace(arg, mounted, folder, 1))
	}
	if err := s.mount(ctx, folder, pod); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + folder, "POD_NAMESPACE=" + s.Namespace}
	cmd.WaitDelay = time.Second
	return cmd, nil
}

// mounted is the directory of the operator's configuration in pods.
const mounted = "/etc/vector-sidecar-operator"

// mount writes the configuration that a pod mounts into a folder; nothing for one that
// mounts none.
func (s *StandIn) mount(ctx context.Context, folder string, pod *corev1.PodSpec) error {
	for i := range pod.Volumes {
		if source := pod.Volumes[i].ConfigMap; source != nil && pod.Volumes[i].Name == "config" {
			var config corev1.ConfigMap
			if err := s.Client.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: source.Name}, &config); err != nil {
				return err
			}
			for name, text := range config.Data {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Scrape reads the operator's metrics as a ServiceAccount of the release's namespace.
func (s *StandIn) Scrape(ctx context.Context, account string) (string, error) {
	kubeconfig, err := s.Plane.KubeconfigFor(ctx, s.Namespace, account)
	if err != nil {
		return "", err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.Metrics+"/metrics", nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+config.BearerToken)
	unverified := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the operator signed its certificate itself
	}}
	response, err := unverified.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("metrics: %s", response.Status)
	}
	return string(text), err
}
