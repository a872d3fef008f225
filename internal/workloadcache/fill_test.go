// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// fillCount is the number of Deployments of one fill.
const fillCount = 10000

// BenchmarkCache_Fill stores Deployments as a start of the operator does. It reports the heap and the processor time of
// each, without decoding.
func BenchmarkCache_Fill(b *testing.B) {
	for name, change := range map[string]func(int, *appsv1.Deployment){
		"one shape": func(int, *appsv1.Deployment) {},
		"distinct":  makeDistinct,
	} {
		b.Run(name, func(b *testing.B) {
			var bytes, spent float64
			for b.Loop() {
				texts := encodeDeployments(b, change)
				before, cache := heap(), New()
				for _, text := range texts {
					deployment := &appsv1.Deployment{}
					if err := deployment.Unmarshal(text); err != nil {
						b.Fatal(err)
					}
					start := time.Now()
					cache.Put(cache.Reduce(deployment))
					spent += float64(time.Since(start))
				}
				bytes += float64(heap() - before)
				runtime.KeepAlive(cache)
				runtime.KeepAlive(texts)
			}
			each := float64(b.N) * fillCount
			b.ReportMetric(bytes/each, "B/workload")
			b.ReportMetric(spent/each, "ns/workload")
		})
	}
}

// encodeDeployments returns Deployments as the API server encodes them, each changed by the function.
func encodeDeployments(b *testing.B, change func(int, *appsv1.Deployment)) [][]byte {
	b.Helper()
	texts := make([][]byte, fillCount)
	for n := range texts {
		deployment := chartDeployment(fmt.Sprintf("app-%05d", n), fmt.Sprintf("team-%d", n%10))
		deployment.UID, deployment.ResourceVersion, deployment.Generation = types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", n)), fmt.Sprint(n+1), 1
		change(n, deployment)
		text, err := deployment.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		texts[n] = text
	}
	return texts
}

// chartDeployment is a Deployment of the size that a chart gives: labels, variables, probes, requests and volumes. Its
// containers have the name of the workload.
func chartDeployment(name, namespace string) *appsv1.Deployment {
	deployment := objects.NewDeployment(name, namespace).WithReplicas(2).
		Labeled("app.kubernetes.io/name", name).Labeled("app.kubernetes.io/instance", name).Labeled("helm.sh/chart", "service-1.4.0").
		Labeled("app.kubernetes.io/managed-by", "Helm").Labeled("team", "payments").
		Annotated("meta.helm.sh/release-name", name).Annotated("meta.helm.sh/release-namespace", namespace).
		PodAnnotated("checksum/config", "8c6f1b0fb3d1d2b26c9f0ab3a56c3f1a7e0d3c55").
		WithEmptyDir("logs", "/var/log/app").WithEmptyDir("tmp", "/tmp").WithPort(8080).WithPort(9090).Build()
	app := &deployment.Spec.Template.Spec.Containers[0]
	for n := range 12 {
		app.Env = append(app.Env, corev1.EnvVar{Name: fmt.Sprintf("APPLICATION_SETTING_%d", n), Value: "a value of some length"})
	}
	app.Resources = *objects.Requests("100m", "128Mi")
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8080)}}}
	app.LivenessProbe, app.ReadinessProbe = probe, probe
	deployment.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1",
		Time:     &metav1.Time{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{` + strings.Repeat(`"k:{\"name\":\"app\"}":{".":{}},`, 60) + `".":{}}}}}}`),
	}}
	return deployment
}

// makeDistinct changes a Deployment so that no other Deployment has an equal pod template.
func makeDistinct(n int, deployment *appsv1.Deployment) {
	pod := &deployment.Spec.Template.Spec
	pod.Containers[0].Name = deployment.Name
	pod.Containers[0].Ports[0].ContainerPort = int32(1024 + n)
	pod.Containers[0].VolumeMounts[0].MountPath = "/var/log/" + deployment.Name
	pod.Volumes[0].Name = "logs-" + deployment.Name
	pod.Containers[0].VolumeMounts[0].Name = pod.Volumes[0].Name
	deployment.Spec.Template.Annotations["release-of-"+deployment.Name] = "1"
}
