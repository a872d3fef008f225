// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// kinds are those that are served besides Deployments.
const kinds = "workloads.kinds={Deployment,StatefulSet,DaemonSet,CronJob}"

// written is a workload of a kind whose pods are those of writer.
func written(kind, space string, args ...string) client.Object {
	workload := example.NewWorkload(kind, "app", space, map[string]string{"logs": "vector"})
	pod := writer("app", space, args...).Build().Spec.Template.Spec
	// The pods of a StatefulSet have the names of those before.
	pod.Containers[0].Env = []corev1.EnvVar{{Name: "POD_UID", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.uid"}}}}
	switch of := workload.(type) {
	case *appsv1.StatefulSet:
		of.Spec.Replicas, of.Spec.Template.Spec = ptr.To[int32](2), pod
	case *appsv1.DaemonSet:
		of.Spec.Template.Spec = pod
	case *batchv1.CronJob:
		pod.RestartPolicy = corev1.RestartPolicyNever
		of.Spec.JobTemplate.Spec.Template.Spec, of.Spec.JobTemplate.Spec.BackoffLimit = pod, ptr.To[int32](0)
	}
	return workload
}

// testLongRunning rolls out the sidecar, another version of it, and its removal for pods of a kind, each with the
// rollout of that kind.
func testLongRunning(kind string, pods int) func(*testing.T) {
	return func(t *testing.T) {
		space := restricted(t)
		one := collecting(space).For(v1alpha1.WorkloadKind(kind)).WithSoak(0).WithEnv("ROUND", "1").Build()
		world.Create(t, written(kind, space), one)
		began := time.Now()
		rolledOut(t, space, pods, "1")
		took(t, kind+" with its sidecar", began)

		began = time.Now()
		before := one.DeepCopy()
		one.Spec.Sidecar.Env[0].Value = "2"
		require.NoError(t, cluster.Patch(t.Context(), one, client.MergeFrom(before)))
		rolledOut(t, space, pods, "2")
		took(t, kind+" with another", began)

		began = time.Now()
		require.NoError(t, cluster.Delete(t.Context(), one))
		rolledOut(t, space, pods, "")
		took(t, kind+" without", began)
	}
}

// testDelivered replaces the pods of a kind by rollouts of the application and of the sidecar and by an eviction, and
// then deletes them. No line is lost.
func testDelivered(kind string, pods int) func(*testing.T) {
	return func(t *testing.T) {
		space, from := restricted(t), newCollector(t)
		app := written(kind, space, "--collector=http://"+from.wrote, "--name=$(POD_UID)")
		has(app, 0) // Until it has the sidecar.
		world.Create(t, app)
		scaled := func(pods int) {
			before, is := app.DeepCopyObject().(client.Object)
			require.True(t, is)
			has(app, pods)
			require.NoError(t, cluster.Patch(t.Context(), app, client.MergeFrom(before)))
		}
		one := collecting(space).For(v1alpha1.WorkloadKind(kind)).WithSoak(0).WithEnv("ROUND", "1").Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.Sinks = map[string]apiextensionsv1.JSON{"collector": {Raw: fmt.Appendf(nil, `{"type": "http", "uri": "http://%s/lines"}`, from.lines)}}
		}).Build()
		world.Create(t, one)
		harness.Until(t, world, app, "the injection of the workload", func(object client.Object) bool {
			made, _ := workload.ToObject(object) // It is of a kind that is served.
			return containerOf(&corev1.Pod{Spec: workload.PodTemplate(made).Spec}, sidecar) != nil
		})
		scaled(pods)
		rolledOut(t, space, pods, "1")
		for _, step := range []struct {
			what string
			do   func(pods []corev1.Pod)
		}{
			{"a rollout of the application", func([]corev1.Pod) {
				run(t, "kubectl", "rollout", "restart", strings.ToLower(kind)+"/app", "--namespace="+space)
			}},
			{"a rollout of the sidecar", func([]corev1.Pod) {
				before := one.DeepCopy()
				one.Spec.Sidecar.Env[0].Value = "2"
				require.NoError(t, cluster.Patch(t.Context(), one, client.MergeFrom(before)))
			}},
			{"evictions", func(pods []corev1.Pod) {
				for i := range pods {
					evict(t, &pods[i])
				}
			}},
		} {
			before := podsOf(t, "app", space)
			step.do(before)
			eventually(t, step.what+" to replace all pods", func() bool {
				now := podsOf(t, "app", space)
				isOld := func(pod corev1.Pod) bool {
					return !isReady(&pod) || slices.ContainsFunc(before, func(old corev1.Pod) bool { return old.UID == pod.UID })
				}
				return len(now) == pods && !slices.ContainsFunc(now, isOld)
			})
		}
		scaled(0)
		eventually(t, "the deletion of the pods", func() bool { return len(podsIn(t, space)) == 0 })
		found, silent := from.count()
		t.Logf("of %d lines of a %s %d are lost, and %d came twice", found.Wrote, kind, found.Lost, found.Twice)
		require.NotZero(t, found.Wrote)
		require.Zero(t, found.Lost, from.missing())
		require.Empty(t, silent)
	}
}

// has sets how many pods a workload has, of which a DaemonSet has one on the node or none.
func has(workload client.Object, pods int) {
	switch of := workload.(type) {
	case *appsv1.StatefulSet:
		of.Spec.Replicas = ptr.To(int32(pods))
	case *appsv1.DaemonSet:
		if of.Spec.Template.Spec.NodeSelector = nil; pods == 0 {
			of.Spec.Template.Spec.NodeSelector = map[string]string{"runs": "nowhere"}
		}
	}
}

// podsIn are all pods of a namespace, those on their way out as well.
func podsIn(t *testing.T, space string, options ...client.ListOption) []corev1.Pod {
	t.Helper()
	var all corev1.PodList
	require.NoError(t, cluster.List(t.Context(), &all, append(options, client.InNamespace(space))...))
	return all.Items
}

// podsOfRun are the pods of a Job.
func podsOfRun(t *testing.T, space, job string) []corev1.Pod {
	t.Helper()
	return podsIn(t, space, client.MatchingLabels{batchv1.JobNameLabel: job})
}

// rolledOut waits until all pods of an application are ready with the sidecar of a round, or,
// if that is "", without one.
func rolledOut(t *testing.T, space string, pods int, round string) {
	t.Helper()
	eventually(t, "pods of round "+round, func() bool {
		found := podsOf(t, "app", space)
		for i := range found {
			is := ""
			if container := containerOf(&found[i], sidecar); container != nil {
				for _, env := range container.Env {
					if env.Name == "ROUND" {
						is = env.Value
					}
				}
			}
			if is != round || !isReady(&found[i]) {
				return false
			}
		}
		return len(found) == pods
	})
}

// testRunsEnd requires that a run of a CronJob completes with the sidecar, which ends after the application, and that
// the next run completes without the sidecar.
func testRunsEnd(t *testing.T) {
	space := restricted(t)
	one := collecting(space).For("CronJob").Build()
	world.Create(t, written("CronJob", space, "--for=3s"), one)
	eventually(t, "the CronJob's next run to have the sidecar", func() bool { return hasSidecarImage(t, space) })
	pod := runOf(t, space, "with")
	app, vector := statusOf(pod, "app").State.Terminated, statusOf(pod, sidecar).State.Terminated
	require.NotNil(t, app)
	require.NotNil(t, vector)
	require.Zero(t, app.ExitCode)
	require.Zero(t, vector.ExitCode)
	require.False(t, vector.FinishedAt.Before(&app.FinishedAt), "application %s, sidecar %s", app.FinishedAt, vector.FinishedAt)

	require.NoError(t, cluster.Delete(t.Context(), one))
	eventually(t, "the CronJob's next run to have none", func() bool { return !hasSidecarImage(t, space) })
	require.Nil(t, statusOf(runOf(t, space, "without"), sidecar))
}

// hasSidecarImage reports whether the next run of the CronJob has the sidecar.
func hasSidecarImage(t *testing.T, space string) bool {
	t.Helper()
	cron := &batchv1.CronJob{}
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "app"}, cron))
	return containerOf(&corev1.Pod{Spec: cron.Spec.JobTemplate.Spec.Template.Spec}, sidecar) != nil
}

// runOf has the CronJob run now, as a person would, and returns the pod once the Job is complete.
func runOf(t *testing.T, space, name string) *corev1.Pod {
	t.Helper()
	began := time.Now()
	run(t, "kubectl", "create", "job", name, "--from=cronjob/app", "--namespace="+space)
	job := &batchv1.Job{}
	eventually(t, "the run to end by itself", func() bool {
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, job))
		require.Zero(t, job.Status.Failed)
		return job.Status.Succeeded > 0
	})
	took(t, "a run "+name+" the sidecar", began)
	pods := podsOfRun(t, space, name)
	require.Len(t, pods, 1)
	return &pods[0]
}
