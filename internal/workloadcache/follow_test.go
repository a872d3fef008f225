// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// entry is the managedFields entry of a write, some seconds after noon.
func entry(manager, subresource, fields string, second int) metav1.ManagedFieldsEntry {
	made := metav1.ManagedFieldsEntry{
		Manager: manager, Subresource: subresource, Operation: metav1.ManagedFieldsOperationUpdate,
		FieldsV1: metav1.NewFieldsV1(fields), Time: &metav1.Time{Time: noon.Add(time.Duration(second) * time.Second)},
	}
	if meta.IsManager(manager) {
		made.Operation = metav1.ManagedFieldsOperationApply
	}
	return made
}

// sidecarFields are what the operator owns of the pod template in carrier.
const sidecarFields = `"f:spec":{"f:template":{"f:spec":{"f:initContainers":{"k:{\"name\":\"vector\"}":{".":{},"f:name":{},"f:image":{}}}}}}`

// carrier returns metadata and pod template of a workload with a sidecar that was injected at noon. Its controller wrote the
// status ten minutes later.
func carrier() (metav1.ObjectMeta, corev1.PodTemplateSpec) {
	metadata := metav1.ObjectMeta{
		Namespace: "shop", Name: "cart", UID: "cart", Generation: 2, ResourceVersion: "1", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
		Annotations: map[string]string{meta.AnnotationInjected: "true"}, Labels: map[string]string{"app": "cart"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			entry("vectorsidecar/logs", "", `{"f:metadata":{"f:annotations":{"f:`+meta.AnnotationInjected+`":{}}},`+sidecarFields+`}`, 0),
			entry("kube-controller-manager", "status", "{}", 600),
		},
	}
	return metadata, corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "vector", Image: "vector:1"}}, Containers: []corev1.Container{{Name: "app", Image: "cart:1"}},
	}}
}

// asRollout returns a Rollout with the metadata and the spec of a Deployment.
func asRollout(like *appsv1.Deployment, status map[string]any) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(like)
	if err != nil {
		panic(err) // A Deployment can be converted.
	}
	fields["status"] = status
	rollout := &unstructured.Unstructured{Object: fields}
	rollout.SetGroupVersionKind(workload.KindByName("Rollout").GroupVersionKind)
	return rollout
}

func deploymentWith(status appsv1.DeploymentStatus) workload.Object {
	metadata, template := carrier()
	status.ObservedGeneration = 2
	return &appsv1.Deployment{ObjectMeta: metadata, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Template: template}, Status: status}
}

func progressing(reason string) []appsv1.DeploymentCondition {
	status := corev1.ConditionTrue
	if reason == "ProgressDeadlineExceeded" {
		status = corev1.ConditionFalse
	}
	return []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: status, Reason: reason, LastUpdateTime: metav1.NewTime(noon.Add(600 * time.Second))}}
}

// states are workloads of every kind in each state that a write must not change.
var states = map[string]func() workload.Object{
	"Deployment that failed": func() workload.Object {
		return deploymentWith(appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 1, AvailableReplicas: 3, Conditions: progressing("ProgressDeadlineExceeded")})
	},
	"Deployment that rolls out": func() workload.Object {
		return deploymentWith(appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 1, AvailableReplicas: 3, Conditions: progressing("ReplicaSetUpdated")})
	},
	"Deployment that soaks": func() workload.Object {
		return deploymentWith(appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, Conditions: progressing("NewReplicaSetAvailable")})
	},
	"Deployment that lost pods": func() workload.Object {
		return deploymentWith(appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 1, Conditions: progressing("NewReplicaSetAvailable")})
	},
	"Deployment without the right to pods": func() workload.Object {
		rejected := append(progressing("ReplicaSetUpdated"), appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota"})
		return deploymentWith(appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 0, AvailableReplicas: 3, Conditions: rejected})
	},
	"StatefulSet that does not get on": func() workload.Object {
		metadata, template := carrier()
		return &appsv1.StatefulSet{ObjectMeta: metadata, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(3)), Template: template}, Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2, CurrentRevision: "a", UpdateRevision: "b",
		}}
	},
	"DaemonSet that does not get on": func() workload.Object {
		metadata, template := carrier()
		return &appsv1.DaemonSet{ObjectMeta: metadata, Spec: appsv1.DaemonSetSpec{Template: template}, Status: appsv1.DaemonSetStatus{
			ObservedGeneration: 2, DesiredNumberScheduled: 3, CurrentNumberScheduled: 3, UpdatedNumberScheduled: 1, NumberAvailable: 2,
		}}
	},
	"Argo Rollout that failed": func() workload.Object {
		metadata, template := carrier()
		return asRollout(&appsv1.Deployment{ObjectMeta: metadata, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Template: template}}, map[string]any{
			"observedGeneration": "2", "phase": "Degraded", "replicas": int64(3), "updatedReplicas": int64(1), "availableReplicas": int64(2),
			"currentPodHash": "b", "stableRS": "a",
		})
	},
	"CronJob with a run since": func() workload.Object {
		metadata, template := carrier()
		job := &batchv1.CronJob{ObjectMeta: metadata, Status: batchv1.CronJobStatus{LastScheduleTime: &metav1.Time{Time: noon.Add(600 * time.Second)}}}
		job.Spec.JobTemplate.Spec.Template = template
		return job
	},
}

// annotate adds an annotation as the operator does, five minutes after the last status.
func annotate(key, value, manager string) func(workload.Object) {
	return func(object workload.Object) {
		annotations, entries := map[string]string{meta.AnnotationInjected: "true", key: value}, object.GetManagedFields()
		object.SetAnnotations(annotations)
		own := `{"f:metadata":{"f:annotations":{"f:` + key + `":{}}}}`
		if manager == "vectorsidecar/logs" {
			own = `{"f:metadata":{"f:annotations":{"f:` + meta.AnnotationInjected + `":{},"f:` + key + `":{}}},` + sidecarFields + `}`
			entries = entries[1:]
		}
		object.SetManagedFields(append([]metav1.ManagedFieldsEntry{entry(manager, "", own, 900)}, entries...))
	}
}

// writes are those that restart no pods.
var writes = map[string]func(workload.Object){
	"note of the input":              annotate(meta.AnnotationRenderedFrom, "owner=b", "vectorsidecar/logs"),
	"waiting-since":                  annotate(meta.AnnotationWaiting("vectorsidecar/logs"), "2026-11-22T12:15:00Z/00000000/0000000000000000", "vectorsidecar/logs"),
	"configuration that is reloaded": annotate(meta.AnnotationConfigMapVersion, "b", "vectorsidecar/logs"),
	"note of another VectorSidecar":  annotate(meta.AnnotationKeyFor(meta.AnnotationRenderedFrom, "traces"), "owner=b", "vectorsidecar/traces"),
	"mark of the operator":           annotate(meta.AnnotationOrphaned("vectorsidecar/logs"), "true", meta.Operator),
	"label of the owner": func(object workload.Object) {
		object.SetLabels(map[string]string{"app": "cart", "team": "b"})
		touch(object)
	},
	"field managers, such as Adopt's": func(object workload.Object) { object.SetManagedFields(object.GetManagedFields()[1:]); touch(object) },
	"setting of the owner, not seen":  func(object workload.Object) { object.SetGeneration(3); touch(object) },
	"setting of the owner, seen": func(object workload.Object) {
		object.SetGeneration(3)
		touch(object)
		switch of := object.(type) {
		case *appsv1.Deployment:
			of.Status.ObservedGeneration = 3
		case *appsv1.StatefulSet:
			of.Status.ObservedGeneration = 3
		case *appsv1.DaemonSet:
			of.Status.ObservedGeneration = 3
		case *unstructured.Unstructured:
			of.Object["status"].(map[string]any)["observedGeneration"] = "3"
		}
	},
}

// touch records a write of the workload's owner.
func touch(object workload.Object) {
	object.SetManagedFields(append(object.GetManagedFields(), entry("helm", "", "{}", 900)))
}

// A write that restarts no pods changes neither the state of the rollout nor its time, also if the workload's status
// changes later.
func TestRecord_KeepsStateAfterWriteWithoutRollout(t *testing.T) {
	for state, object := range states {
		for write, change := range writes {
			t.Run(state+"/"+write, func(t *testing.T) {
				r := New()
				before := r.Reduce(object())
				want := before.State()
				for n := range 3 {
					written := object()
					written.SetResourceVersion("2")
					change(written)
					if n > 0 { // The pods of the application come and go.
						written.SetManagedFields(append(written.GetManagedFields(), entry("kube-controller-manager", "status", "{}", 900+n)))
					}
					after := r.Reduce(written)
					after.CarryOver(before, noon.Add(time.Hour))
					got := after.State()
					require.Equal(t, want.Rollout, got.Rollout)
					require.Equal(t, want.StateSince.UTC(), got.StateSince.UTC())
					require.Equal(t, want.Steady, got.Steady)
					require.Equal(t, want.Refusal, got.Refusal)
					require.Equal(t, want.HeldReason, got.HeldReason)
					before = after
				}
			})
		}
	}
}

// After a restart, a write that is newer than the workload's status has not changed the pod template. The state is read
// from the status.
func TestRecord_ReadsStateAfterWriteWithoutRollout(t *testing.T) {
	for state, object := range states {
		for write, change := range writes {
			if state == "CronJob with a run since" || write == "setting of the owner, not seen" {
				continue // Its times do not tell; nor does a controller that has seen nothing.
			}
			t.Run(state+"/"+write, func(t *testing.T) {
				r := New()
				before, written := r.Reduce(object()).State(), object()
				change(written)
				after := r.Reduce(written).State()
				require.Equal(t, before.Rollout, after.Rollout)
				require.Equal(t, before.StateSince.UTC(), after.StateSince.UTC())
			})
		}
	}
}

// A workload that was deleted and created again starts without the earlier state.
func TestRecord_DropsStateOfRecreatedWorkload(t *testing.T) {
	r := New()
	before, again := r.Reduce(states["Deployment that failed"]()), states["Deployment that rolls out"]()
	again.SetUID("another")
	after := r.Reduce(again)
	want := after.State()
	after.CarryOver(before, noon.Add(time.Hour))
	require.Equal(t, want, after.State())
}
