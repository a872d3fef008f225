// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companion

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestOwners_FindUnreferencedCompanions(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	owned := metav1.OwnerReference{Kind: "Tenant", Name: "logs", UID: "1", Controller: ptr.To(true)}
	for name, test := range map[string]struct {
		change   func(*corev1.ConfigMap)
		sidecars []string
		traces   []workload.Trace
		isStray  bool
	}{
		"of no VectorSidecar":         {isStray: true},
		"of one":                      {sidecars: []string{"logs"}},
		"of none, beside another one": {sidecars: []string{"audit"}, isStray: true},
		"of a sidecar that was left":  {traces: []workload.Trace{{Manager: meta.Manager("logs"), Orphan: "true"}}},
		"a few minutes old":           {change: func(c *corev1.ConfigMap) { c.CreationTimestamp = metav1.NewTime(now.Add(-unreferencedAge)) }},
		"a copy":                      {change: func(c *corev1.ConfigMap) { c.Name = "copy" }},
		"printed by the plugin":       {change: func(c *corev1.ConfigMap) { c.Annotations = nil }},
		"not of the inventory":        {change: func(c *corev1.ConfigMap) { c.Labels = nil }},
		"with a controller owner":     {change: func(c *corev1.ConfigMap) { c.OwnerReferences = []metav1.OwnerReference{owned} }},
		"on its way out":              {change: func(c *corev1.ConfigMap) { c.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }},
	} {
		t.Run(name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "vectorsidecar-logs-1", CreationTimestamp: metav1.NewTime(now.Add(-unreferencedAge - time.Second))}}
			Label(object, "logs")
			Mark(object)
			if test.change != nil {
				test.change(object)
			}
			elsewhere := metav1.ObjectMeta{Namespace: "pay", Name: "logs"}
			sidecars := []v1alpha1.VectorSidecar{{ObjectMeta: elsewhere}}
			for _, one := range test.sidecars {
				sidecars = append(sidecars, v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: one}})
			}
			carriers := slices.Values([]Carrier{{Ref: cart, Traces: test.traces}})

			require.Equal(t, test.isStray, NewOwners(carriers, sidecars, nil).IsUnreferenced(object, now))
		})
	}
}

// A ConfigMap belongs to the operator only if no other field manager has written it.
func TestIsOperatorOwned_RejectsObjectsOfOthers(t *testing.T) {
	by := func(managers ...string) metav1.Object {
		object := &corev1.ConfigMap{}
		for _, manager := range managers {
			object.ManagedFields = append(object.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager})
		}
		return object
	}
	require.True(t, IsOperatorOwned(by(meta.Operator)))
	require.False(t, IsOperatorOwned(by(meta.Operator, "kubectl-edit")))
	require.False(t, IsOperatorOwned(by("kubectl")))
	require.False(t, IsOperatorOwned(by()), "nobody knows")
}
