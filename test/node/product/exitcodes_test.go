// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// away is a sink whose events nobody takes.
const away = `{"type": "http", "uri": "http://127.0.0.1:9/"}`

// Each case has the exit code of a sidecar in a run of a CronJob. A run fails only if its application fails. A rule
// of podFailurePolicy without containerName also matches the sidecar's exit code.
func testExitCodes(t *testing.T) {
	const succeeds, fails = "--for=8s", "--crash=800" // Of 100 lines a second.
	stop := func(t *testing.T, process int) { require.NoError(t, syscall.Kill(process, syscall.SIGSTOP)) }
	kill := func(t *testing.T, process int) { require.NoError(t, syscall.Kill(process, syscall.SIGKILL)) }
	lock := func(t *testing.T, process int) {
		// Vector cannot read its data directory any more.
		require.NoError(t, os.Chmod(fmt.Sprintf("/proc/%d/root/var/lib/vector", process), 0))
		kill(t, process)
	}
	for what, each := range map[string]struct {
		app string
		// isAway is true if no collector accepts the events.
		isAway bool
		// grace is the pod's grace period; 0 means 20 s, which is too short for a drain of 13 s and then 15 s to
		// send.
		grace  int64
		do     func(t *testing.T, process int)
		code   int32
		isReal bool
		// last is the exit code of the previous run of the container, or 0.
		last int32
	}{
		"it ends after an application that succeeds":                                  {app: succeeds},
		"it ends after an application that fails":                                     {app: fails},
		"nobody takes its events":                                                     {app: succeeds, isAway: true, grace: 30},
		"nobody takes its events, and the application fails":                          {app: fails, isAway: true, grace: 30},
		"nobody takes its events in a grace period that is shorter than its own time": {app: succeeds, isAway: true, code: 137, isReal: true},
		"nobody takes its events in such a period, and the application fails":         {app: fails, isAway: true, code: 137, isReal: true},
		"it is killed, and started again":                                             {app: succeeds, do: kill, last: 137},
		"it hangs":                                                                    {app: succeeds, do: stop, code: 137},
		"it hangs, and the application fails":                                         {app: fails, do: stop, code: 137},
		"it cannot be started again":                                                  {app: succeeds, do: lock, code: 137, isReal: true, last: 78},
		"it cannot be started again, and the application fails":                       {app: fails, do: lock, code: 137, isReal: true, last: 78},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if each.isReal {
				needsVector(t)
			}
			space := restricted(t)
			one := collecting(space).For("CronJob").Sidecar(func(s *v1alpha1.SidecarSpec) {
				if s.LogLevel = "info"; each.isAway {
					s.Sinks = map[string]apiextensionsv1.JSON{"away": {Raw: []byte(away)}}
				}
			}).Build()
			args := []string{each.app}
			if each.do != nil {
				args = append(args, "--start-file="+logs+"/start")
			}
			cron := written("CronJob", space, args...).(*batchv1.CronJob)
			cron.Spec.JobTemplate.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To(cmp.Or(each.grace, 20))
			rule := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{78, 137}}
			cron.Spec.JobTemplate.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: rule},
			}}
			world.Create(t, cron, one)
			eventually(t, "the CronJob's next run to have the sidecar", func() bool { return hasSidecarImage(t, space) })
			run(t, "kubectl", "create", "job", "run", "--from=cronjob/app", "--namespace="+space)
			if each.do != nil {
				pod := runningOf(t, space)
				each.do(t, processOf(t, statusOf(pod, sidecar).ContainerID))
				// The application waits for this file. Without it, a run can end before its pod's status shows that it runs.
				application := processOf(t, statusOf(pod, "app").ContainerID)
				require.NoError(t, os.WriteFile(fmt.Sprintf("/proc/%d/root%s/start", application, logs), nil, 0o600))
			}
			job := ended(t, space)
			var pod *corev1.Pod
			var status *corev1.ContainerStatus
			// A sidecar that waits for its restart does not prevent the end of a run. The kubelet reports the
			// sidecar's own end later.
			eventually(t, "the sidecar's end to be told", func() bool {
				pods := podsOfRun(t, space, "run")
				require.Len(t, pods, 1)
				pod, status = &pods[0], statusOf(&pods[0], sidecar)
				return status.State.Terminated != nil
			})
			app, vector, before := statusOf(pod, "app").State.Terminated, status.State.Terminated, status.LastTerminationState.Terminated
			t.Logf("application: exit code %d; sidecar: exit code %d (%s), before that %v; Job %s (%s)", app.ExitCode, vector.ExitCode, vector.Reason, before, job.Type, job.Reason)
			switch {
			case each.last == 78 && vector.Reason != "ContainerStatusUnknown": // It has just ended, and does not wait yet to be started again.
				require.EqualValues(t, 78, vector.ExitCode)
			case each.last > 0:
				require.Equal(t, each.last, before.ExitCode)
				require.Equal(t, each.code, vector.ExitCode)
			default:
				require.Nil(t, before)
				require.Equal(t, each.code, vector.ExitCode)
			}
			if each.isAway {
				printed := run(t, "kubectl", "logs", pod.Name, "--namespace="+space, "--container="+sidecar)
				require.Contains(t, strings.ToLower(printed), "connection refused", "it has tried to send events")
			}
			switch {
			case !strings.HasPrefix(each.app, "--crash"):
				require.Equal(t, batchv1.JobComplete, job.Type, "whatever the sidecar's exit code is")
			case each.code == 0:
				require.Equal(t, batchv1.JobReasonBackoffLimitExceeded, job.Reason)
			default:
				require.Equal(t, batchv1.JobReasonPodFailurePolicy, job.Reason, "the rule finds the sidecar's")
				require.Contains(t, job.Message, sidecar)
			}
		})
	}
}

// ended waits until the Job has ended, and returns how.
func ended(t *testing.T, space string) *batchv1.JobCondition {
	t.Helper()
	var end *batchv1.JobCondition
	eventually(t, "the run to end", func() bool {
		job := &batchv1.Job{}
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "run"}, job))
		at := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
		})
		if at >= 0 {
			end = &job.Status.Conditions[at]
		}
		return at >= 0
	})
	return end
}

// runningOf waits until the Job's pod runs with its sidecar.
func runningOf(t *testing.T, space string) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually(t, "the run to have begun", func() bool {
		if pods := podsOfRun(t, space, "run"); len(pods) == 1 {
			found = &pods[0]
		}
		return found != nil && isRunning(statusOf(found, sidecar)) && isRunning(statusOf(found, "app"))
	})
	return found
}
