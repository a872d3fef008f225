// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func record(name, namespace string, labels map[string]string, managers ...string) *Record {
	deployment := objects.NewDeployment(name, namespace).Build()
	deployment.Labels = labels
	for _, manager := range managers {
		deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}"),
		})
	}
	return New().Reduce(deployment)
}

func names(records []*Record) []string {
	found := []string{}
	for _, r := range records {
		found = append(found, r.Namespace+"/"+r.Name)
	}
	slices.Sort(found)
	return found
}

// After each change of a workload, it is found by its new labels and field managers.
func TestCache_UpdatesIndexesOnEveryChange(t *testing.T) {
	c := New()
	manager := meta.Manager("logs")
	vector, none, all := []string{"logs=vector"}, []string{"logs=none"}, []string{AnyLabels}
	c.Put(record("cart", "shop", map[string]string{"logs": "vector"}))
	c.Put(record("web", "shop", map[string]string{"logs": "none"}, manager))
	c.Put(record("cart", "bank", map[string]string{"logs": "vector"}))

	require.Equal(t, []string{"shop/cart"}, names(c.ListByLabels("shop", vector)), "asked for after it came")
	require.Equal(t, []string{"shop/cart", "shop/web"}, names(c.ListByLabels("shop", append(vector, none...))))
	require.Equal(t, []string{"shop/cart", "shop/web"}, names(c.ListByLabels("shop", all)))
	require.Equal(t, []string{"shop/web"}, names(c.ListByManager("shop", manager)))
	require.Equal(t, "cart", c.Get("Deployment", "bank", "cart").Name)

	c.Put(record("till", "shop", map[string]string{"logs": "vector"}))
	require.Equal(t, []string{"shop/cart", "shop/till"}, names(c.ListByLabels("shop", vector)), "came after it was asked for")
	c.Put(record("till", "shop", map[string]string{"logs": "none"}, manager))
	require.Equal(t, []string{"shop/cart"}, names(c.ListByLabels("shop", vector)), "another label")
	require.Equal(t, []string{"shop/till", "shop/web"}, names(c.ListByLabels("shop", none)))
	require.Equal(t, []string{"shop/till", "shop/web"}, names(c.ListByManager("shop", manager)))
	c.Put(record("web", "shop", map[string]string{"logs": "none"}))
	require.Equal(t, []string{"shop/till"}, names(c.ListByManager("shop", manager)), "it gave it up")

	for _, gone := range []string{"cart", "till", "web", "web"} {
		c.Delete(record(gone, "shop", nil))
	}
	require.Empty(t, c.ListByLabels("shop", all))
	require.Nil(t, c.Get("Deployment", "shop", "cart"))
	require.NotContains(t, c.indexes, namespaceKey{"Deployment", "shop"}, "an empty namespace costs nothing")
	require.Equal(t, []string{"bank/cart"}, names(c.ListByLabels("bank", all)))
}

func at(resourceVersion string, uid types.UID) *appsv1.Deployment {
	deployment := objects.NewDeployment("cart", "shop").Build()
	deployment.ResourceVersion, deployment.UID = resourceVersion, uid
	return deployment
}

// A watch event that is older than a live read does not replace the read.
func TestPutLive_IgnoresLateWatchEvents(t *testing.T) {
	c := New()
	shown := func() string { return c.Get("Deployment", "shop", "cart").ResourceVersion() }
	c.Put(c.Reduce(at("10", "u")))
	c.PutLive(at("14", "u"), time.Now())
	require.Equal(t, "14", shown())
	c.Put(c.Reduce(at("12", "u")))
	require.Equal(t, "14", shown())
	c.Put(c.Reduce(at("14", "u")))
	c.Put(c.Reduce(at("9", "u")))
	require.Equal(t, "9", shown(), "once it has caught up, the watch is believed in everything")
	c.PutLive(at("8", "u"), time.Now())
	c.PutLive(at("20", "another"), time.Now())
	require.Equal(t, "9", shown())
	c.PutLive(at("11", "u"), time.Now())
	c.Delete(c.Get("Deployment", "shop", "cart"))
	require.Empty(t, c.pendingVersions)
	c.PutLive(at("12", "u"), time.Now())
	require.Nil(t, c.Get("Deployment", "shop", "cart"), "it is gone")
}
