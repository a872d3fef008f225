// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Parts of a workload are large. The record is not, and it states which part is too large.
func TestReduce_DropsOversizedParts(t *testing.T) {
	text := strings.Repeat("x", 40<<10)
	many := func(add func(name string)) {
		for n := range 4000 {
			add(fmt.Sprintf("n%d", n))
		}
	}
	for name, test := range map[string]struct {
		change    func(*appsv1.Deployment)
		path      string
		hasLabels bool
	}{
		"small":            {func(*appsv1.Deployment) {}, "", true},
		"labels":           {func(d *appsv1.Deployment) { many(func(name string) { d.Labels[name] = "a value" }) }, "metadata", false},
		"annotation":       {func(d *appsv1.Deployment) { d.Annotations["text"] = text }, "metadata", true},
		"values":           {func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationValuesPrefix+"a"] = text }, "metadata", true},
		"opt-out":          {func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationInject] = text }, "metadata", true},
		"applied manifest": {func(d *appsv1.Deployment) { d.Annotations[corev1.LastAppliedConfigAnnotation] = text }, "", true},
		"volumes": {func(d *appsv1.Deployment) {
			pod := &d.Spec.Template.Spec
			many(func(name string) { pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name}) })
		}, "spec.template", true},
		"ports": {func(d *appsv1.Deployment) {
			app := &d.Spec.Template.Spec.Containers[0]
			many(func(name string) { app.Ports = append(app.Ports, corev1.ContainerPort{Name: name}) })
		}, "spec.template", true},
		"fields of the operator's managers": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Args = []string{strings.Repeat("x", largestOwnership)}
			d.ManagedFields = []metav1.ManagedFieldsEntry{entry(meta.Manager("logs"), "", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:args":{}}}}}}}`, 0)}
		}, "metadata.managedFields", true},
		"annotations of the pods": {func(d *appsv1.Deployment) {
			many(func(name string) { d.Spec.Template.Annotations[name] = "" })
		}, "spec.template", true},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := objects.NewDeployment("app", "shop").Labeled("app", "app").Annotated("a", "b").PodAnnotated("a", "b").Build()
			test.change(deployment)
			record := New().Reduce(deployment)
			require.Less(t, bounded.Footprint(*record), 2*largestPart)
			require.Equal(t, test.hasLabels, record.Labels()["app"] == "app")
			view := record.View()
			require.Equal(t, test.path != "", strings.HasPrefix(view.Unread.Text(), test.path+" is too large: "), view.Unread.Text())
			require.Equal(t, NewRecord(deployment).View(), view)
			require.True(t, New().Reduce(deployment).EquivalentTo(record))

			deployment.Generation = 1 // The next event reuses the pod template.
			cache := New()
			cache.Put(cache.Reduce(deployment))
			require.Equal(t, view.Unread, cache.Reduce(deployment).View().Unread)
		})
	}
}
