// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// Workloads with equal fields of the sidecar share the memory for them.
func TestReduce_SharesEqualOwnership(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	first, other := c.Live(), c.Live()
	other.Name, other.UID, other.Labels = "till", "other", map[string]string{"app": "till"}
	other.Annotations["own"] = "another"
	other.Spec.Template.Annotations["checksum/config"] = "another"
	other.Spec.Template.Spec.ServiceAccountName = "till"
	other.Spec.Template.Spec.Containers[0].Image = "till:2"
	other.Spec.Template.Spec.Volumes = append(other.Spec.Template.Spec.Volumes, corev1.Volume{Name: "own"})
	r := New()

	record, otherRecord := r.Reduce(first), r.Reduce(other)

	require.Same(t, record.ownership, otherRecord.ownership)
	require.Equal(t, workload.NewView(other), otherRecord.View())
}

// Two records of an unchanged workload share the memory of its View.
func TestReduce_SharesViewOfUnchangedWorkload(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	live := c.Live()
	live.ResourceVersion = "98"
	cache := New()
	before := cache.Reduce(live)
	cache.Put(before)
	status := live.DeepCopy()
	status.ResourceVersion, status.Generation, status.Status.Replicas = "99", 7, 3
	after := cache.Reduce(status)
	require.Same(t, before.object, after.object)
	require.True(t, after.HasSameView(before))
	require.Equal(t, workload.NewView(status), after.View())

	status.ResourceVersion, status.Annotations["own"] = "100", "changed"
	changed := cache.Reduce(status)
	require.NotSame(t, before.object, changed.object)
	require.Equal(t, workload.NewView(status), changed.View())
}

// The parts of the spec come from the earlier record while the generation is the same. Changes of the metadata are read.
func TestReduce_ReadsMetadataOfSameGeneration(t *testing.T) {
	c := fieldmanager.New(t)
	bare := c.Live()
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	for name, change := range map[string]func(*appsv1.Deployment){
		"status":     func(d *appsv1.Deployment) { d.Status.Replicas = 9 },
		"label":      func(d *appsv1.Deployment) { d.Labels = map[string]string{"team": "search"} },
		"annotation": func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, "own", "changed") },
		"mark": func(d *appsv1.Deployment) {
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, meta.AnnotationOrphaned(meta.Manager("logs")), "true")
		},
		"owned annotation": func(d *appsv1.Deployment) {
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, meta.AnnotationInjectedHash, "other")
		},
		"managed fields": func(d *appsv1.Deployment) { d.ManagedFields = nil },
	} {
		for _, live := range []*appsv1.Deployment{bare, c.Live()} {
			before, after := live.DeepCopy(), live.DeepCopy()
			before.Generation, after.Generation = 3, 3
			change(after)
			cache := New()
			cache.Put(cache.Reduce(before))
			require.Equal(t, workload.NewView(after), cache.Reduce(after).View(), name)
		}
	}
}

// A deployment tool owns fields of the sidecar. Its repeated writes alone do not change the record.
func TestEquivalentTo_IgnoresWriteTimeOfDeploymentTool(t *testing.T) {
	key := meta.AnnotationInjectedItems(meta.Manager("logs"))
	before := fieldmanager.Undone(t, "helm", map[string]string{key: fieldmanager.List})
	before.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(1, 0)}
	after := before.DeepCopy()
	after.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(2, 0)}
	r := New()

	require.True(t, r.Reduce(after).EquivalentTo(r.Reduce(before)))
}

// Two workloads that differ in a relevant field do not share a record.
func TestReduce_SeparatesDifferentWorkloads(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	injected := c.Live()
	changed := func(change func(*appsv1.Deployment)) *appsv1.Deployment {
		deployment := injected.DeepCopy()
		change(deployment)
		return deployment
	}
	key := meta.AnnotationInjectedItems(meta.Manager("logs"))
	all := map[string]*appsv1.Deployment{
		"injected":   injected,
		"our image":  changed(func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers[0].Image = "vector:other" }),
		"our volume": changed(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = nil }),
		"our hash":   changed(func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationInjectedHash] = "other" }),
		"two of us": changed(func(d *appsv1.Deployment) {
			second := *d.ManagedFields[len(d.ManagedFields)-1].DeepCopy()
			second.Manager = meta.Manager("audit")
			d.ManagedFields = append(d.ManagedFields, second)
		}),
		"our mark": changed(func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationOrphaned(meta.Manager("logs"))] = "true" }),
		"and a patch of ours": changed(func(d *appsv1.Deployment) {
			d.ManagedFields = append(d.ManagedFields, metav1.ManagedFieldsEntry{Manager: meta.Manager("logs"), Operation: metav1.ManagedFieldsOperationUpdate})
		}),
		"a damaged record": changed(func(d *appsv1.Deployment) {
			for i := range d.ManagedFields {
				d.ManagedFields[i].FieldsV1.SetRawString("{")
			}
		}),
		"undone by a person":  fieldmanager.Undone(t, "kubectl", map[string]string{key: fieldmanager.List}),
		"the same, by helm":   fieldmanager.Undone(t, "helm", map[string]string{key: fieldmanager.List}),
		"under another's key": fieldmanager.Undone(t, "kubectl", map[string]string{meta.AnnotationInjectedItems(meta.Manager("audit")): fieldmanager.List}),
	}
	r := New()
	var held []*Record // Or the entries would be evicted in between.
	for range 2 {
		for name, deployment := range all {
			record := r.Reduce(deployment)
			require.Equal(t, workload.NewView(deployment), record.View(), name)
			require.Equal(t, workload.ReadOwnership(deployment).Traces, record.Traces(), name)
			held = append(held, record)
		}
	}
	require.Len(t, held, 2*len(all))
}
