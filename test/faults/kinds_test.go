// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// ofKinds are the scenarios of workloads that are not Deployments.
func ofKinds() []scenario {
	var every []scenario
	for _, kind := range []string{"StatefulSet", "DaemonSet", "CronJob", "Rollout"} {
		every = append(every, ofKind(kind)...)
	}
	return every
}

// ofKind are the scenarios of one workload kind, without pods.
func ofKind(kind string) []scenario {
	from := func(build func(string) *objects.VectorSidecar) func(string) client.Object {
		return func(ns string) client.Object { return build(ns).For(v1alpha1.WorkloadKind(kind)).Build() }
	}
	mounted := func(ns string) *objects.VectorSidecar { return mounting(logs(ns), "/var/log/app") }
	one := initialObjects(func(ns string) client.Object { return workloadOf(kind, ns) })
	labeled := func(value string) action { return labelOf(kind, "cart", "logs", value) }
	gives := []condition{has("cart", "migrate", "app"), matched("logs", 0)}
	takes := []condition{has("cart", "vector", "migrate", "app"), matched("logs", 1)}
	plain := scenario{name: kind, kind: kind, given: one, steps: []step{
		{"inject", add(from(logs)), takes},
		updated("rename", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Name: "shipper"} }, has("cart", "shipper", "migrate", "app")),
		deleted("migrate", "app"),
	}}
	return []scenario{
		plain, revertAtOnce(plain),
		{name: kind + " with mounts", kind: kind, given: one, steps: []step{
			{"inject", add(from(mounted)), takes},
			updated("move", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Logs.Path = "/srv/logs" }, hasTemplateText("cart", "/srv/logs"), lacksTemplateText("cart", "/var/log/app")),
			{"label off", labeled(""), gives},
			{"label on", labeled("v"), takes},
			deleted("migrate", "app"),
		}},
	}
}

// workloadOf returns a workload like the Deployment of most scenarios.
func workloadOf(kind, namespace string) client.Object {
	object := harness.NewWorkload(kind, "cart", namespace, map[string]string{"logs": "v"})
	harness.ChangeTemplate(object, func(template *corev1.PodTemplateSpec) {
		template.Spec.InitContainers = append(template.Spec.InitContainers, corev1.Container{Name: "migrate", Image: "registry.example/migrate:1"})
	})
	switch object := object.(type) {
	case *unstructured.Unstructured:
		_ = unstructured.SetNestedField(object.Object, int64(0), "spec", "replicas") // Its spec is a map.
	case *appsv1.StatefulSet:
		object.Spec.Replicas = ptr.To[int32](0)
	case *appsv1.DaemonSet:
		object.Spec.Template.Spec.NodeSelector = map[string]string{"no": "node"}
	case *batchv1.CronJob:
		object.Spec.Suspend = ptr.To(true)
	}
	return object
}

// labelOf sets a label of a workload, or removes it if the value is empty.
func labelOf(kind, name, key, value string) action {
	return patch("kubectl-label", name, client.Object(workload.KindByName(kind).New()), func(object client.Object) {
		labels := object.GetLabels()
		if delete(labels, key); value != "" {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[key] = value
		}
		object.SetLabels(labels)
	})
}
