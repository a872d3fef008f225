// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func ended(reason string, code int32) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}
}

// before sets a container's last termination.
func before(status corev1.ContainerStatus, end *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	status.LastTerminationState.Terminated = end
	return status
}

// pod has a native sidecar "vector", a plain init container "fetch" and an application.
func pod(name string, vector, fetch, app corev1.ContainerStatus) corev1.Pod {
	vector.Name, fetch.Name, app.Name = "vector", "fetch", "app"
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "vector", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}, {Name: "fetch"}},
			Containers:     []corev1.Container{{Name: "app"}},
		},
		Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{vector, fetch}, ContainerStatuses: []corev1.ContainerStatus{app}},
	}
}

func TestFindFault_DescribesFaultsOfPods(t *testing.T) {
	running := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	starting := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	done := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended("Completed", 0)}}
	gone := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended("Completed", 0)}}
	backOff := waiting("CrashLoopBackOff", "back-off 10s restarting failed container")
	for name, test := range map[string]struct {
		pod     corev1.Pod
		reason  string
		message string
	}{
		"all is well":                         {pod("a", running, done, running), "", ""},
		"it is being made":                    {pod("a", waiting("ContainerCreating", ""), waiting("PodInitializing", ""), waiting("PodInitializing", "")), "", ""},
		"no image":                            {pod("a", waiting("ImagePullBackOff", "not found"), done, running), meta.ReasonImagePullBackOff, "container vector of pod a: image cannot be pulled: ImagePullBackOff: not found"},
		"no image, at the first try":          {pod("a", waiting("ErrImagePull", ""), done, running), meta.ReasonImagePullBackOff, "container vector of pod a: image cannot be pulled: ErrImagePull"},
		"no secret":                           {pod("a", waiting("CreateContainerConfigError", `secret "token" not found`), done, running), meta.ReasonCreateContainerConfigError, `container vector of pod a: cannot be created: CreateContainerConfigError: secret "token" not found`},
		"it ends again and again":             {pod("a", before(backOff, ended("Error", 78)), done, running), meta.ReasonCrashLoopBackOff, "container vector of pod a: exited with code 78 (Error)"},
		"nobody knows how it ended":           {pod("a", backOff, done, running), meta.ReasonCrashLoopBackOff, "container vector of pod a: keeps exiting: CrashLoopBackOff: back-off 10s restarting failed container"},
		"too little memory":                   {pod("a", before(backOff, ended("OOMKilled", 137)), done, running), meta.ReasonOOMKilled, "container vector of pod a: killed for using more memory than its limit"},
		"too little memory, just now":         {pod("a", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended("OOMKilled", 137)}}, done, running), meta.ReasonOOMKilled, "container vector of pod a: killed for using more memory than its limit"},
		"it starts again":                     {pod("a", before(starting, ended("Error", 1)), done, running), meta.ReasonCrashLoopBackOff, "container vector of pod a: exited with code 1 (Error)"},
		"it runs again":                       {pod("a", before(running, ended("Error", 1)), done, running), "", ""},
		"it starts":                           {pod("a", starting, done, running), "", ""},
		"a sidecar must not end at all":       {pod("a", gone, done, running), meta.ReasonCrashLoopBackOff, "container vector of pod a: exited with code 0 (Completed)"},
		"an init container of ours fails":     {pod("a", running, before(backOff, ended("Error", 2)), running), meta.ReasonCrashLoopBackOff, "container fetch of pod a: exited with code 2 (Error)"},
		"the application is none of ours":     {pod("a", running, done, before(backOff, ended("Error", 1))), "", ""},
		"what its image is called says a lot": {pod("a", waiting("InvalidImageName", "couldn't parse"), done, running), meta.ReasonImagePullBackOff, "container vector of pod a: image cannot be pulled: InvalidImageName: couldn't parse"},
	} {
		t.Run(name, func(t *testing.T) {
			got := FindFault([]corev1.Pod{test.pod}, []string{"vector", "fetch"}, time.Time{})
			want := Fault{Reason: test.reason, Message: test.message}
			if test.reason != "" {
				want.IsSidecarFault, want.Container = true, strings.Fields(test.message)[1]
			}
			require.Equal(t, want, got)
		})
	}
}

// A terminated container in a terminating pod is not a fault, because node drains, evictions and rollouts terminate
// containers.
func TestFindFault_IgnoresTerminatingPods(t *testing.T) {
	broken := pod("a", waiting("ImagePullBackOff", ""), corev1.ContainerStatus{}, corev1.ContainerStatus{})
	for name, leave := range map[string]func(*corev1.Pod){
		"deleted":                func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} },
		"evicted by the kubelet": func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"ended":                  func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
		"about to be evicted": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		},
		"but not if it just stays": nil,
	} {
		t.Run(name, func(t *testing.T) {
			one := *broken.DeepCopy()
			if leave != nil {
				leave(&one)
			}
			require.Equal(t, leave == nil, FindFault([]corev1.Pod{one}, []string{"vector"}, time.Time{}).IsSidecarFault)
		})
	}
}

// Of several faults, the one of the first pod by name is returned, so that the message stays the same. A fault of the
// sidecar precedes one of the scheduler.
func TestFindFault_ReturnsFirstFaultByPodName(t *testing.T) {
	homeless := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available"},
	}}}
	broken := func(name string) corev1.Pod {
		return pod(name, waiting("ImagePullBackOff", ""), corev1.ContainerStatus{}, corev1.ContainerStatus{})
	}
	require.Equal(t, Fault{Reason: meta.ReasonUnschedulable, Message: "pod a: 0/3 nodes are available"}, FindFault([]corev1.Pod{homeless}, []string{"vector"}, time.Time{}))
	require.Contains(t, FindFault([]corev1.Pod{broken("c"), homeless, broken("b")}, []string{"vector"}, time.Time{}).Message, "pod b")
}

// Events that are older than the current revision are ignored. A write without a template change creates no revision,
// so an earlier rejection still counts.
func TestFaultInEvents_IgnoresEventsBeforeTheRevision(t *testing.T) {
	set := daemonSet(2, 3, 2)
	set.UID = "set"
	set.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "vectorsidecar/logs", Time: ptr.To(metav1.NewTime(at(3600)))}}
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(0)), ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "kube-controller-manager", Time: ptr.To(metav1.NewTime(at(60)))}, // An undo numbers it again.
	}}}
	event := func(of types.UID, reason, message string, seconds int) corev1.Event {
		return corev1.Event{InvolvedObject: corev1.ObjectReference{UID: of}, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(at(seconds))}
	}
	for name, test := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"none":                  {nil, ""},
		"of the write":          {[]corev1.Event{event("set", "FailedCreate", "quota", 60)}, "quota"},
		"of the one before":     {[]corev1.Event{event("set", "FailedCreate", "quota", 59)}, ""},
		"the newest":            {[]corev1.Event{event("set", "FailedCreate", "quota", 61), event("set", "FailedCreate", "limit", 70), event("set", "FailedCreate", "webhook", 65)}, "limit"},
		"of another workload":   {[]corev1.Event{event("other", "FailedCreate", "quota", 61)}, ""},
		"about something else":  {[]corev1.Event{event("set", "SuccessfulCreate", "pod", 61)}, ""},
		"it is cut to its size": {[]corev1.Event{event("set", "FailedCreate", strings.Repeat("x", 1000), 61)}, strings.Repeat("x", 512-len("the API server rejects the creation of pods: "))},
	} {
		t.Run(name, func(t *testing.T) {
			want := Fault{}
			if test.want != "" {
				want = RejectionFault("the API server rejects the creation of pods: " + test.want)
			}
			require.Equal(t, want, FaultInEvents(set, revision, test.events))
		})
	}
}
