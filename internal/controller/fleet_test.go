// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func record(name, namespace string, labels map[string]string, managers ...string) *workload.Record {
	deployment := objects.NewDeployment(name, namespace).Build()
	deployment.Labels = labels
	for _, manager := range managers {
		deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}"),
		})
	}
	return workload.NewReducer().Reduce(deployment)
}

func names(records []*workload.Record) []string {
	found := []string{}
	for _, r := range records {
		found = append(found, r.Namespace+"/"+r.Name)
	}
	slices.Sort(found)
	return found
}

func TestTheFleetFollowsEveryChange(t *testing.T) {
	f := NewFleet()
	manager := meta.Manager("logs")
	vector, none, all := []string{"logs=vector"}, []string{"logs=none"}, []string{anyLabels}
	f.put(record("cart", "shop", map[string]string{"logs": "vector"}))
	f.put(record("web", "shop", map[string]string{"logs": "none"}, manager))
	f.put(record("cart", "bank", map[string]string{"logs": "vector"}))

	require.Equal(t, []string{"shop/cart"}, names(f.candidates("shop", vector)), "asked for after it came")
	require.Equal(t, []string{"shop/cart", "shop/web"}, names(f.candidates("shop", append(vector, none...))))
	require.Equal(t, []string{"shop/cart", "shop/web"}, names(f.candidates("shop", all)))
	require.Equal(t, []string{"shop/web"}, names(f.carriers("shop", manager)))
	require.Equal(t, "cart", f.get("bank", "cart").Name)

	f.put(record("till", "shop", map[string]string{"logs": "vector"}))
	require.Equal(t, []string{"shop/cart", "shop/till"}, names(f.candidates("shop", vector)), "came after it was asked for")
	f.put(record("till", "shop", map[string]string{"logs": "none"}, manager))
	require.Equal(t, []string{"shop/cart"}, names(f.candidates("shop", vector)), "another label")
	require.Equal(t, []string{"shop/till", "shop/web"}, names(f.candidates("shop", none)))
	require.Equal(t, []string{"shop/till", "shop/web"}, names(f.carriers("shop", manager)))
	f.put(record("web", "shop", map[string]string{"logs": "none"}))
	require.Equal(t, []string{"shop/till"}, names(f.carriers("shop", manager)), "it gave it up")

	for _, gone := range []string{"cart", "till", "web", "web"} {
		f.remove(record(gone, "shop", nil))
	}
	require.Empty(t, f.candidates("shop", all))
	require.Nil(t, f.get("shop", "cart"))
	require.NotContains(t, f.places, "shop", "an empty namespace costs nothing")
	require.Equal(t, []string{"bank/cart"}, names(f.candidates("bank", all)))
}
