// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

func TestReducer_SharesEqualOwnership(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	first, other := c.Live(), c.Live()
	other.Name, other.UID, other.Labels = "till", "other", map[string]string{"app": "till"}
	other.Annotations["own"] = "another"
	other.Spec.Template.Annotations["checksum/config"] = "another"
	other.Spec.Template.Spec.ServiceAccountName = "till"
	other.Spec.Template.Spec.Containers[0].Image = "till:2"
	other.Spec.Template.Spec.Volumes = append(other.Spec.Template.Spec.Volumes, corev1.Volume{Name: "own"})
	r := newReducer()

	one, two := r.reduce(first), r.reduce(other)

	require.Same(t, one.body.owned, two.body.owned)
	require.Equal(t, workload.NewView(other), two.View())
}

// Workloads that differ only in their names and namespaces, wherever they repeat them, take the memory
// of one.
func TestReducer_SharesBodyOfSimilarWorkloads(t *testing.T) {
	of := func(name string, change func(*appsv1.Deployment)) *appsv1.Deployment {
		live := fieldmanager.New(t).Live()
		live.Name, live.UID, live.Labels = name, types.UID(name), map[string]string{"app": name, "tier": "web"}
		live.Namespace = "team-" + name
		live.Annotations = map[string]string{"release": name, "release-namespace": live.Namespace, meta.AnnotationValuesPrefix + "sidecar.name": name}
		live.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		live.Spec.Template.Labels = live.Labels
		live.Spec.Template.Spec.Containers[0].Name = name
		change(live)
		return live
	}
	same := func(*appsv1.Deployment) {}
	r := newReducer()
	cart := r.reduce(of("cart", same))
	till := r.reduce(of("till", same))
	require.Same(t, cart.body, till.body)
	require.False(t, cart.IsAs(till))
	for name, change := range map[string]func(*appsv1.Deployment){
		"nothing":                         same,
		"the name of another":             func(d *appsv1.Deployment) { d.Labels["app"] = "cart" },
		"what stands for a name":          func(d *appsv1.Deployment) { d.Annotations["release"] = ownName },
		"and for what stands for that":    func(d *appsv1.Deployment) { d.Annotations["release"] = ownName + ownName },
		"something that begins with it":   func(d *appsv1.Deployment) { d.Annotations["release"] = ownName + "till" },
		"the namespace of another":        func(d *appsv1.Deployment) { d.Annotations["release-namespace"] = "team-cart" },
		"a label with the namespace":      func(d *appsv1.Deployment) { d.Labels["tier"] = d.Namespace },
		"what stands for a namespace":     func(d *appsv1.Deployment) { d.Annotations["release"] = ownNamespace },
		"what stands for that, too":       func(d *appsv1.Deployment) { d.Annotations["release"] = ownName + ownNamespace },
		"something that begins with that": func(d *appsv1.Deployment) { d.Labels["tier"] = ownNamespace + "till" },
		"the same name and namespace":     func(d *appsv1.Deployment) { d.Namespace = d.Name; d.Annotations["release-namespace"] = d.Name },
		"another container":               func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Name = "app" },
	} {
		deployment := of("till", change)
		record := r.reduce(deployment)
		require.Equal(t, workload.NewView(deployment), record.View(), name)
		require.Equal(t, name == "nothing", record.body == till.body, name)
		require.Equal(t, deployment.Labels, maps.Collect(record.Labels().All()), name)
		require.Equal(t, deployment.Labels["app"], record.Labels().Get("app"), name)
	}
}

// A Deployment is not parsed again where that can be avoided.
func TestReducer_ReusesUnchangedRecord(t *testing.T) {
	live := fieldmanager.New(t).Live()
	r := newReducer()
	before := r.reduce(live)
	asked := 0
	r.findPrevious = func(kind, namespace, name string) *Record {
		require.Equal(t, "Deployment/"+live.Namespace+"/"+live.Name, kind+"/"+namespace+"/"+name)
		asked++
		return before
	}
	live.ResourceVersion, live.Generation = "99", 7
	after := r.reduce(live)
	require.Same(t, before.body, after.body)
	require.Equal(t, workload.NewView(live), after.View())

	live.Annotations["own"] = "changed"
	changed := r.reduce(live)
	require.NotSame(t, before.body, changed.body)
	require.Equal(t, workload.NewView(live), changed.View())
	require.Equal(t, 2, asked)
}

// A deployer that owns fields of the sidecar does not change the ownership with each of
// its writes.
func TestEquivalentTo_IgnoresWriteTimeOfDeployer(t *testing.T) {
	key := meta.AnnotationInjectedItems(meta.Manager("logs"))
	before := fieldmanager.Undone(t, "helm", map[string]string{key: fieldmanager.List})
	before.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(1, 0)}
	after := before.DeepCopy()
	after.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(2, 0)}
	r := newReducer()

	require.True(t, r.reduce(after).EquivalentTo(r.reduce(before)))
}

// A workload that differs in anything relevant must not get what is cached for another.
func TestReducer_SeparatesDifferentWorkloads(t *testing.T) {
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
	r := newReducer()
	var held []*Record // Or the entries would be evicted in between.
	for range 2 {
		for name, deployment := range all {
			record := r.reduce(deployment)
			require.Equal(t, workload.NewView(deployment), record.View(), name)
			require.Equal(t, workload.ListTraces(deployment), record.Traces(), name)
			held = append(held, record)
		}
	}
	require.Len(t, held, 2*len(all))
}
