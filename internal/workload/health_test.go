// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// restarted is a container that runs, and ended some times, at last at noon.
func restarted(times int32, reason string) corev1.ContainerStatus {
	last := ended(reason, 137)
	last.FinishedAt = metav1.NewTime(noon)
	return before(corev1.ContainerStatus{Ready: true, RestartCount: times, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, last)
}

// Repeated restarts of the sidecar are a fault. Restarts in older pods, or of the application, are not.
func TestRestartRule_ReportsRestartsAsFault(t *testing.T) {
	running := restarted(0, "")
	const crash, memory = "Error", "OOMKilled"
	for name, test := range map[string]struct {
		vector, fetch, app corev1.ContainerStatus
		watch              RestartRule
		age                time.Duration
		says               string
	}{
		"none":                      {running, running, running, RestartRule{Restarts: 3}, 0, ""},
		"fewer":                     {restarted(2, crash), running, running, RestartRule{Restarts: 3}, 0, ""},
		"as many":                   {restarted(3, crash), running, running, RestartRule{Restarts: 3}, 0, "container vector of pod a was restarted 3 times; last termination: exited with code 137 (Error)"},
		"of an init container":      {running, restarted(4, crash), running, RestartRule{Restarts: 3}, 0, "container fetch of pod a was restarted 4 times; last termination: exited with code 137 (Error)"},
		"for its memory":            {restarted(3, memory), running, running, RestartRule{Restarts: 3}, 0, "container vector of pod a was restarted 3 times; last termination: killed for using more memory than its limit"},
		"of the application":        {running, running, restarted(9, crash), RestartRule{Restarts: 3}, 0, ""},
		"of an older pod":           {restarted(3, crash), running, running, RestartRule{Restarts: 3, StartedAt: noon}, time.Hour, ""},
		"of a pod of the rollout":   {restarted(3, crash), running, running, RestartRule{Restarts: 3, StartedAt: noon}, 0, "container vector of pod a was restarted 3 times; last termination: exited with code 137 (Error)"},
		"before somebody let it on": {restarted(3, crash), running, running, RestartRule{Restarts: 3, RetriedAt: noon}, 0, ""},
		"and after that":            {restarted(3, crash), running, running, RestartRule{Restarts: 3, RetriedAt: noon.Add(-time.Second)}, 0, "container vector of pod a was restarted 3 times; last termination: exited with code 137 (Error)"},
	} {
		t.Run(name, func(t *testing.T) {
			one := pod("a", test.vector, test.fetch, test.app)
			one.CreationTimestamp = metav1.NewTime(noon.Add(-test.age))
			want := Fault{}
			if test.says != "" {
				want = Fault{Reason: meta.ReasonSidecarRestarts, Message: test.says, IsSidecarFault: true, IsRestarts: true, Container: strings.Fields(test.says)[1]}
			}
			require.Equal(t, want, test.watch.FindFault([]corev1.Pod{one}, []string{"vector", "fetch"}))

			one.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
			require.Zero(t, test.watch.FindFault([]corev1.Pod{one}, []string{"vector", "fetch"}), "it is leaving")
		})
	}
	forgotten := restarted(3, crash)
	forgotten.LastTerminationState.Terminated = nil
	watch := RestartRule{Restarts: 3}
	require.Contains(t, watch.FindFault([]corev1.Pod{pod("a", forgotten, running, running)}, []string{"vector"}).Message, "last termination: exited")
}

// Each case is the state of a pod's containers, and whether the sidecar has failed because it is not ready.
func TestReadinessFault_ReportsUnreadySidecar(t *testing.T) {
	since := func(ago time.Duration, isReady bool) corev1.ContainerStatus {
		running := &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-ago))}
		return corev1.ContainerStatus{Ready: isReady, State: corev1.ContainerState{Running: running}}
	}
	slow := &corev1.Probe{InitialDelaySeconds: 60, PeriodSeconds: 5}
	done := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended("Completed", 0)}}
	starting := since(time.Minute, false)
	starting.Started = ptr.To(false)
	for name, test := range map[string]struct {
		vector, app corev1.ContainerStatus
		probe       *corev1.Probe
		age         time.Duration
		isFault     bool
	}{
		"all are ready":                       {since(time.Minute, true), since(time.Minute, true), nil, time.Hour, false},
		"it is not":                           {since(30*time.Second, false), since(time.Minute, true), nil, time.Hour, true},
		"it has just started":                 {since(29*time.Second, false), since(time.Minute, true), nil, time.Hour, false},
		"its startup probe goes on":           {starting, since(time.Minute, true), nil, time.Hour, false},
		"its readiness probe may take longer": {since(74*time.Second, false), since(time.Hour, true), slow, time.Hour, false},
		"and has taken longer":                {since(75*time.Second, false), since(time.Hour, true), slow, time.Hour, true},
		"the clock of its node is behind":     {since(time.Hour, false), since(time.Hour, true), nil, 10 * time.Second, false},
		"neither is the application":          {since(time.Minute, false), since(time.Minute, false), nil, time.Hour, false},
		"nor does that run":                   {since(time.Minute, false), waiting("CrashLoopBackOff", ""), nil, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			one := pod("a", test.vector, done, test.app)
			one.Spec.InitContainers[0].ReadinessProbe = test.probe
			one.CreationTimestamp = metav1.NewTime(noon.Add(-test.age))
			fault := FindFault([]corev1.Pod{one}, []string{"vector", "fetch"}, noon)
			require.Equal(t, test.isFault, fault.Reason == meta.ReasonSidecarNotReady)
			require.Equal(t, test.isFault, fault.IsSidecarFault)
			if test.isFault {
				require.Contains(t, fault.Message, "container vector of pod a has run since ")
			}
		})
	}
}
