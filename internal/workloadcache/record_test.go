// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

func TestReduce_KeepsAllFieldsOfView(t *testing.T) {
	c := fieldmanager.New(t)
	bare := c.Live()
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	injected := c.Live()
	injected.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}
	failed := injected.DeepCopy()
	failed.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}
	judged := injected.DeepCopy()
	judged.Annotations[meta.AnnotationValuesPrefix+"sidecar.threads"] = "2"
	judged.Spec.Template.Annotations["checksum"] = "x"
	pod := &judged.Spec.Template.Spec
	pod.HostPID, pod.HostUsers, pod.OS = true, new(bool), &corev1.PodOS{Name: corev1.Linux}
	pod.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(bool)}
	pod.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(bool)}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}})
	pod.Containers[0].Env = append([]corev1.EnvVar{{Name: "TENANT", Value: "shop"}, {Name: "OTHER", Value: "x"}}, corev1.EnvVar{Name: "KEY", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "cart"}, Key: "k"},
	}})
	pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "logs", MountPath: "/own", SubPathExpr: "$(TENANT)"})
	isController := true
	judged.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "no"}, {APIVersion: "kafka.strimzi.io/v1", Kind: "Kafka", Name: judged.Name, UID: "u", Controller: &isController}}
	require.Equal(t, "Kafka.kafka.strimzi.io/"+judged.Name, workload.NewView(judged).Owner.String())
	require.Nil(t, workload.NewView(injected).Owner)
	plain := judged.DeepCopy()
	plain.ManagedFields = nil
	c.Update(changed(injected, func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers[1].Image = "own:1" }), "helm")
	taken := c.Live()
	for name, deployment := range map[string]*appsv1.Deployment{"taken": taken, "bare": bare, "injected": injected, "failed": failed, "judged": judged, "plain": plain} {
		before := deployment.DeepCopy()
		require.Equal(t, workload.NewView(deployment), New().Reduce(deployment).View(), name)
		require.True(t, equality.Semantic.DeepEqual(before, deployment), "%s: the argument has changed", name)
	}
}

// The record of a Rollout that cannot be decoded has the errors. After a correction, the Rollout gets another record.
func TestReduce_KeepsReadErrorsOfRollout(t *testing.T) {
	read := func(spec string) *unstructured.Unstructured {
		rollout := &unstructured.Unstructured{}
		require.NoError(t, rollout.UnmarshalJSON([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"cart","namespace":"shop","uid":"1","labels":{"logs":"vector"}},"spec":{"template":{"spec":`+spec+`}},"status":{"replicas":"two"}}`)))
		return rollout
	}
	r, bad := New(), read(`{"volumes":"none"}`)
	before := r.Reduce(bad)
	require.Equal(t, workload.NewView(bad), before.View())
	require.NotEmpty(t, before.View().Unread.Template)
	require.NotEmpty(t, before.View().Unread.Other)
	r.Put(before)
	require.True(t, r.Reduce(bad).HasSameView(before))
	require.Empty(t, r.Reduce(read(`{}`)).View().Unread.Template)
}

func changed(of *appsv1.Deployment, change func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := of.DeepCopy()
	change(deployment)
	return deployment
}

// A workload with a new controller owner is not the same, so its earlier state is not used.
func TestHasSameView_DetectsNewControllerOwner(t *testing.T) {
	free, isController := fieldmanager.New(t).Live(), true
	owned := changed(free, func(d *appsv1.Deployment) {
		d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "kafka.strimzi.io/v1", Kind: "Kafka", Name: "orders", UID: "u", Controller: &isController}}
	})
	r := New()
	before := r.Reduce(free)
	r.Put(before)

	require.NotNil(t, r.Reduce(owned).View().Owner)
	require.False(t, r.Reduce(owned).HasSameView(before))
	require.True(t, r.Reduce(free).HasSameView(before))
}

// If the API server starts to reject the pods of a workload, its record changes.
func TestEquivalentTo_DetectsRejectedPods(t *testing.T) {
	before := fieldmanager.New(t).Live()
	after := changed(before, func(d *appsv1.Deployment) {
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota",
		}}
	})
	r := New()

	require.False(t, r.Reduce(after).EquivalentTo(r.Reduce(before)))
	require.True(t, r.Reduce(after).HasSameView(r.Reduce(before)))
}

// If the state is unchanged, the record keeps the time since which it has lasted.
func TestCarryOver_KeepsTimeOfEquivalentState(t *testing.T) {
	live := fieldmanager.New(t).Live()
	r := New()
	version := func(version string, change func(*appsv1.Deployment)) *Record {
		return r.Reduce(changed(live, func(d *appsv1.Deployment) { d.ResourceVersion = version; change(d) }))
	}
	first, same := version("1", func(*appsv1.Deployment) {}), version("2", func(*appsv1.Deployment) {})
	other := version("3", func(d *appsv1.Deployment) { d.Annotations["team"] = "search" })
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	same.CarryOver(first, noon)
	other.CarryOver(same, noon)

	require.Equal(t, "1", same.State().EquivalentVersion)
	require.Equal(t, "3", other.State().EquivalentVersion)
	require.Equal(t, first.StateSince(), other.StateSince(), "its rollout is where it was")
}

// A change outside of the pod template starts no rollout, so the soak continues.
func TestCarryOver_KeepsSoakWithoutRollout(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	live := changed(fieldmanager.New(t).Live(), func(d *appsv1.Deployment) {
		d.Generation, d.Status.ObservedGeneration = 1, 1
		d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = *d.Spec.Replicas, *d.Spec.Replicas, *d.Spec.Replicas
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", LastUpdateTime: metav1.NewTime(noon.Add(-time.Hour)),
		}}
	})
	edited := func(change func(*appsv1.Deployment)) *appsv1.Deployment {
		return changed(live, func(d *appsv1.Deployment) {
			change(d)
			d.Generation, d.Status.ObservedGeneration = 2, 2
			d.ManagedFields = append(d.ManagedFields, metav1.ManagedFieldsEntry{Manager: "kubectl-edit", Operation: "Update", Time: &metav1.Time{Time: noon.AddDate(1, 0, 0)}})
		})
	}
	for name, c := range map[string]struct {
		change    func(*appsv1.Deployment)
		isRollout bool
	}{
		"progress deadline": {change: func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(900)) }},
		"label":             {change: func(d *appsv1.Deployment) { d.Labels["team"] = "search" }},
		"pause":             {change: func(d *appsv1.Deployment) { d.Spec.Paused = true }},
		"image":             {change: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "shop/cart:2" }, isRollout: true},
		"volume": {change: func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: "tmp"})
		}, isRollout: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := New()
			before, after := r.Reduce(live), r.Reduce(edited(c.change))
			require.Equal(t, workload.RolloutComplete, before.Rollout())
			require.NotEqual(t, before.object.LastWriter, after.object.LastWriter)
			after.CarryOver(before, noon)

			is := after.State()
			if c.isRollout {
				require.Zero(t, is.LongestAvailability(noon))
			} else {
				require.GreaterOrEqual(t, is.LongestAvailability(noon), 30*time.Minute)
			}
		})
	}
}

// A changed sidecar is another pod template. Changed bookkeeping annotations are not.
func TestHasSameTemplate_IgnoresBookkeepingAnnotations(t *testing.T) {
	r := New()
	merged := func(text string) *Record {
		c := fieldmanager.New(t)
		c.Apply(meta.Manager("logs"), text)
		return r.Reduce(c.Live())
	}
	before := merged(fieldmanager.Sidecar)
	other := strings.Replace(fieldmanager.Sidecar, "image: ", "image: other/", 1)
	noted := strings.Replace(fieldmanager.Sidecar, "annotations:\n", "annotations:\n    "+meta.AnnotationChangeCause+": because\n", 1)
	require.NotEqual(t, fieldmanager.Sidecar, other)
	require.NotEqual(t, fieldmanager.Sidecar, noted)

	require.True(t, merged(fieldmanager.Sidecar).HasSameTemplate(before))
	require.False(t, merged(other).HasSameTemplate(before))
	require.False(t, r.Reduce(fieldmanager.New(t).Live()).HasSameTemplate(before))
	require.True(t, merged(noted).HasSameTemplate(before))
	require.NotSame(t, before.ownership, merged(noted).ownership)
}
