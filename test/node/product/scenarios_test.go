// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node/delivery"
)

// scenario is how a row is tested. After it, all pods are deleted.
type scenario struct {
	// args are the application's.
	args []string
	// grace is the pod's grace period in seconds; nil: that of Kubernetes.
	grace *int64
	// sidecar is what else is asked of it.
	sidecar func(*v1alpha1.SidecarSpec)
	// happens is what is done when lines come; instead is done before there is a pod.
	happens, instead func(*cell)
	// isLast is of what the whole node takes part in: it is tried after the others.
	isLast bool
}

// readOn is what has Vector read files of other names, too: a change of its configuration.
func readOn(s *v1alpha1.SidecarSpec) { s.Logs.Include = []string{"*.log", "*.txt"} }

func scenarios() map[string]*scenario {
	all := map[string]*scenario{
		delivery.Rollout: {happens: func(c *cell) {
			pod := c.pod()
			run(c.T, "kubectl", "rollout", "restart", "deployment/"+c.app.Name, "--namespace="+c.app.Namespace)
			c.replaced(pod)
		}},
		delivery.RolloutOfImage:  {happens: changed(func(s *v1alpha1.SidecarSpec) { s.Image = vectorAgain })},
		delivery.RolloutOfConfig: {happens: changed(readOn)},
		delivery.LiveConfig:      {sidecar: func(s *v1alpha1.SidecarSpec) { s.Reload = "Live" }, happens: reloads},
		delivery.ScaleDown:       {},
		delivery.Deleted: {happens: func(c *cell) {
			pod := c.pod()
			require.NoError(c, cluster.Delete(c.Context(), pod))
			c.replaced(pod)
		}},
		delivery.Evicted: {happens: evicted},
		delivery.Drained: {isLast: true, happens: drains},
	}
	for _, seconds := range delivery.Ends {
		after := fmt.Sprintf("--after=%ds", seconds)
		all[delivery.Busy(seconds)] = &scenario{args: []string{after}}
		all[delivery.Quiet(seconds)] = &scenario{
			args:    []string{after, "--busy=2s", "--last=300"},
			happens: func(c *cell) { c.quiet(15 * time.Second) },
		}
	}
	for _, some := range []map[string]*scenario{ofVector(), ofCollector(), ofFiles(), ofJobs()} {
		for name, s := range some {
			all[name] = s
		}
	}
	return all
}

// changed rolls out a change of what is asked of the sidecar.
func changed(change func(*v1alpha1.SidecarSpec)) func(*cell) {
	return func(c *cell) {
		pod := c.pod()
		c.change(change)
		c.replaced(pod)
	}
}

// sendSooner is a change of what Vector alone reads: a gate has the names of the files, too.
func sendSooner(s *v1alpha1.SidecarSpec) {
	raw := s.Sinks["collector"].Raw
	s.Sinks["collector"] = apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `%s, "batch": {"timeout_secs": 0.5}}`, bytes.TrimSuffix(raw, []byte("}")))}
}

// reloads changes the configuration in the place where Vector reads it.
func reloads(c *cell) {
	c.change(sendSooner)
	pod := c.pod()
	eventually(c.T, "Vector to reload", func() bool {
		printed := run(c.T, "kubectl", "logs", pod.Name, "--namespace="+pod.Namespace, "--container="+sidecar)
		return strings.Contains(printed, "Vector has reloaded")
	})
	c.upToDate()
}

func evicted(c *cell) {
	pod := c.pod()
	evict(c.T, pod)
	c.replaced(pod)
}

// evict has the API server evict a pod, as a node is drained.
func evict(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(machine.Config())
	require.NoError(t, err)
	require.NoError(t, clients.PolicyV1().Evictions(pod.Namespace).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}))
}

// drains empties the node of the application's pod, which is replaced when the node takes
// pods again.
func drains(c *cell) {
	pod := c.pod()
	run(c.T, "kubectl", "drain", machine.Name, "--pod-selector=app="+c.app.Name, "--delete-emptydir-data", "--ignore-daemonsets", "--force")
	run(c.T, "kubectl", "uncordon", machine.Name)
	c.replaced(pod)
}

func ofVector() map[string]*scenario {
	return map[string]*scenario{
		delivery.Killed: {happens: func(c *cell) {
			pod := c.pod()
			c.kill(pod, sidecar)
			c.restarts(pod, sidecar, 1)
			c.more(200)
			c.upToDate()
		}},
		// Events of this size are more than it may have long before the buffer is full.
		delivery.OutOfMemory: {
			args: []string{"--rate=40", "--last=10", "--size=65536"},
			sidecar: func(s *v1alpha1.SidecarSpec) {
				s.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
			},
			happens: func(c *cell) {
				pod := c.pod()
				c.collector.away()
				c.restarts(pod, sidecar, 1)
				c.collector.back()
				c.mayCatchUp()
			},
		},
		delivery.Hung: {grace: ptr.To[int64](20), happens: func(c *cell) {
			pod := c.pod()
			require.NoError(c, syscall.Kill(processOf(c.T, statusOf(pod, sidecar).ContainerID), syscall.SIGSTOP))
			c.restarts(pod, sidecar, 1)
			c.more(200)
			c.upToDate()
		}},
		delivery.CheckpointCut: {happens: func(c *cell) {
			pod := c.pod()
			c.more(500)
			process := processOf(c.T, statusOf(pod, sidecar).ContainerID)
			require.NoError(c, syscall.Kill(process, syscall.SIGSTOP))
			path := fmt.Sprintf("/proc/%d/root/var/lib/vector/logs/checkpoints.json", process)
			text, err := os.ReadFile(path)
			require.NoError(c, err)
			require.NoError(c, os.Truncate(path, int64(len(text)/2)))
			require.NoError(c, syscall.Kill(process, syscall.SIGKILL))
			c.restarts(pod, sidecar, 1)
			c.more(200)
			c.upToDate()
		}},
		delivery.CrashLoop: {args: []string{"--crash=200"}, happens: func(c *cell) { c.restarts(c.pod(), "app", 2) }},
		delivery.AppKilled: {happens: func(c *cell) {
			pod := c.pod()
			c.kill(pod, "app")
			c.restarts(pod, "app", 1)
			c.more(200)
		}},
	}
}

// kill kills the process of a container.
func (c *cell) kill(pod *corev1.Pod, container string) {
	c.Helper()
	require.NoError(c, syscall.Kill(processOf(c.T, statusOf(pod, container).ContainerID), syscall.SIGKILL))
}

func ofCollector() map[string]*scenario {
	return map[string]*scenario{
		delivery.CollectorAway: {happens: func(c *cell) {
			c.collector.away()
			pass(c.Context(), time.Minute)
			c.collector.back()
			c.upToDate()
		}},
		delivery.CollectorAwayAtEnd: {happens: func(c *cell) {
			c.more(200)
			c.collector.away()
			scale(c.T, c.app, 0)
			c.gone()
			c.collector.back()
		}},
	}
}

func ofFiles() map[string]*scenario {
	enough := func(c *cell) { c.more(4000); c.upToDate() }
	rotated := func(how string, more ...string) []string {
		return append([]string{"--rate=200", "--every=1000", "--rotate=" + how}, more...)
	}
	return map[string]*scenario{
		delivery.Renamed: {args: rotated("rename"), happens: enough},
		delivery.RenamedAway: {args: rotated("rename"), happens: func(c *cell) {
			c.more(500)
			c.collector.away()
			pass(c.Context(), 20*time.Second)
			c.collector.back()
			c.upToDate()
		}},
		delivery.Truncated:     {args: rotated("truncate"), happens: enough},
		delivery.Compressed:    {args: rotated("compress"), happens: enough},
		delivery.SameFirstLine: {args: []string{"--files=2", "--header=logging begins"}, happens: func(c *cell) { c.more(100) }},
		delivery.SameGeneration: {args: rotated("rename", "--header=logging begins"), happens: func(c *cell) {
			pass(c.Context(), 20*time.Second) // Of all but the first one there may come none.
		}},
		delivery.InodeAgain: {args: rotated("recreate"), happens: func(c *cell) { c.more(2500); c.upToDate() }},
		delivery.Unended:    {args: []string{"--unended"}},
		delivery.LongLines:  {args: []string{"--rate=10", "--last=10", "--size=65536"}, happens: func(c *cell) { c.more(50); c.upToDate() }},
		delivery.ManyFiles:  {args: []string{"--files=10"}, happens: func(c *cell) { c.more(500) }},
		delivery.ManyLines:  {isLast: true, args: []string{"--rate=5000"}, happens: func(c *cell) { c.more(20000) }},
	}
}

func ofJobs() map[string]*scenario {
	length := []string{"--for=5s"}
	return map[string]*scenario{
		delivery.Job: {args: length, instead: func(c *cell) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: c.app.Namespace}, Spec: c.asJob()}
			world.Create(c.T, job)
			c.completes(job.Name)
		}},
		delivery.CronJob: {args: length, instead: func(c *cell) {
			cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "cron", Namespace: c.app.Namespace}}
			cron.Spec.Schedule, cron.Spec.ConcurrencyPolicy, cron.Spec.JobTemplate.Spec = "* * * * *", batchv1.ForbidConcurrent, c.asJob()
			world.Create(c.T, cron)
			c.completes("")
			require.NoError(c, cluster.Delete(c.Context(), cron, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		}},
	}
}

// asJob is the pod template that was rendered for the Deployment, as a Job's.
func (c *cell) asJob() batchv1.JobSpec {
	var spec batchv1.JobSpec
	spec.Template.Spec = *c.app.Spec.Template.Spec.DeepCopy()
	spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return spec
}

// completes waits until a Job, or any, has completed by itself, and deletes it with its pod.
func (c *cell) completes(name string) {
	c.Helper()
	var done *batchv1.Job
	eventually(c.T, "the Job to end by itself", func() bool {
		var jobs batchv1.JobList
		require.NoError(c, cluster.List(c.Context(), &jobs, client.InNamespace(c.app.Namespace)))
		for i := range jobs.Items {
			if jobs.Items[i].Status.Succeeded > 0 && (name == "" || jobs.Items[i].Name == name) {
				done = &jobs.Items[i]
			}
		}
		return done != nil
	})
	require.NoError(c, cluster.Delete(c.Context(), done, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}
