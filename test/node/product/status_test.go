// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// told is how long the status may take to say what the kubelet or the scheduler has said.
const told = 10 * time.Second

// faulty are sidecars that do not run, by what their image, variables and resources are.
var faulty = []struct {
	name, reason string
	change       func(*v1alpha1.SidecarSpec)
	// isSeen reports whether the pod's own status shows the fault.
	isSeen func(*corev1.Pod) bool
}{
	{
		"its image cannot be pulled", "ImagePullBackOff",
		func(s *v1alpha1.SidecarSpec) {
			s.Image, s.ImagePullPolicy = "node.test/absent:1", corev1.PullIfNotPresent
		},
		isWaitingFor(sidecar, "ErrImagePull", "ImagePullBackOff"),
	},
	{
		"it ends as soon as it is started", "CrashLoopBackOff",
		func(s *v1alpha1.SidecarSpec) { s.Image = node.Programs }, // Of whose commands none is --config.
		hasEnded,
	},
	{
		"it takes more memory than it may", "OOMKilled",
		func(s *v1alpha1.SidecarSpec) {
			s.Image, s.Resources = eaterImage, example.Requests("10m", "24Mi")
			s.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("24Mi")}
		},
		hasEndedBy("OOMKilled"),
	},
	{
		"a Secret of its variables is not there", "CreateContainerConfigError",
		func(s *v1alpha1.SidecarSpec) {
			from := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}, Key: "key"}
			s.Env = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: from}}}
		},
		isWaitingFor(sidecar, "CreateContainerConfigError"),
	},
	{
		"nobody assigns it a user, and its image has root's", "CreateContainerConfigError",
		func(s *v1alpha1.SidecarSpec) { s.User, s.Image = "Platform", rootImage },
		isWaitingFor(sidecar, "CreateContainerConfigError"),
	},
	{
		"no node has room for it", "Unschedulable",
		func(s *v1alpha1.SidecarSpec) {
			s.Resources = example.Requests("1000", "24Mi")
		},
		func(pod *corev1.Pod) bool {
			return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Reason == corev1.PodReasonUnschedulable })
		},
	},
}

func isWaitingFor(container string, reasons ...string) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool {
		status := statusOf(pod, container)
		return status != nil && status.State.Waiting != nil && slices.Contains(reasons, status.State.Waiting.Reason)
	}
}

// lastEnd is how a container ended that does not run, nil for one that does or never did.
func lastEnd(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	status := statusOf(pod, sidecar)
	switch {
	case status == nil, status.Ready:
		return nil
	case status.State.Terminated != nil:
		return status.State.Terminated
	}
	return status.LastTerminationState.Terminated
}

func hasEnded(pod *corev1.Pod) bool { return lastEnd(pod) != nil }

// hasEndedBy is hasEnded for a reason. That it was the kernel, for want of memory, the
// container runtime hears apart from the end: on a busy machine it tells of some ends as
// of any other error, and the pod's status shows now this, now that.
func hasEndedBy(reason string) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool {
		end := lastEnd(pod)
		return end != nil && end.Reason == reason
	}
}

// With rbac.optional.pods, the status names the container and the reason of a pod fault within seconds.
func testFaultsReachTheStatus(t *testing.T) {
	for _, each := range faulty {
		t.Run(each.name, func(t *testing.T) {
			t.Parallel()
			var seen, sinceInjected []time.Duration
			for range 5 {
				a, b := faultSeen(t, each.reason, each.change, each.isSeen)
				seen, sinceInjected = append(seen, a), append(sinceInjected, b)
			}
			t.Logf("%s: in the status %s after the pod's own status, %s after the VectorSidecar was made", each.reason, seconds(seen), seconds(sinceInjected))
			require.LessOrEqual(t, median(seen), told, "the maximum may be the machine's: all pods of the suite share it")
		})
	}
}

// faultSeen injects a sidecar that does not run. It returns the time from the pod's own status, and from the
// injection, until the status of the VectorSidecar names the container and the reason.
func faultSeen(t *testing.T, reason string, change func(*v1alpha1.SidecarSpec), isSeen func(*corev1.Pod) bool) (fromPod, fromStart time.Duration) {
	t.Helper()
	space := restricted(t)
	app := writer("app", space).Build()
	app.Spec.ProgressDeadlineSeconds = ptr.To[int32](600) // It is not by this that it is told.
	asked := collecting(space).Sidecar(change).Build()
	world.Create(t, app)
	running(t, app, false)
	began := time.Now()
	world.Create(t, asked)
	var inPod time.Time
	var status v1alpha1.VectorSidecar
	require.Eventually(t, func() bool {
		switch isShown := slices.ContainsFunc(podsOf(t, app.Name, space), func(pod corev1.Pod) bool { return isSeen(&pod) }); {
		case !isShown:
			inPod = time.Time{} // Also where it was, and is no more: nobody can tell of it then.
		case inPod.IsZero():
			inPod = time.Now()
		}
		require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Namespace: space, Name: asked.Name}, &status))
		return slices.ContainsFunc(status.Status.Workloads, func(u v1alpha1.WorkloadStatus) bool { return u.Reason == reason })
	}, patience, 50*time.Millisecond, "%s in the status; it is %+v", reason, &status.Status)
	for _, each := range status.Status.Workloads {
		if reason != "Unschedulable" {
			require.Contains(t, each.Message, "container "+sidecar)
		}
		t.Logf("%s: %s", each.State, each.Message)
	}
	require.NoError(t, cluster.Delete(t.Context(), &status))
	if inPod.IsZero() {
		inPod = time.Now() // Between two looks of ours.
	}
	return time.Since(inPod), time.Since(began)
}

// seconds prints durations: their median and the longest, or that there are none.
func seconds(all []time.Duration) string {
	if len(all) == 0 {
		return "no time that was seen"
	}
	var text strings.Builder
	for i, each := range []time.Duration{median(all), slices.Max(all)} {
		text.WriteString([]string{"median ", ", maximum "}[i] + each.Round(100*time.Millisecond).String())
	}
	return text.String()
}

func median(all []time.Duration) time.Duration { return slices.Sorted(slices.Values(all))[len(all)/2] }
