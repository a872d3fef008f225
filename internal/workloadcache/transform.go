// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Transform is the transform function of the informer. It replaces a workload with its record.
func (c *Cache) Transform(object any) (any, error) {
	workloadObject, _ := object.(workload.Object)
	if record := c.Reduce(workloadObject); record != nil {
		return record, nil
	}
	if metadata, isObject := object.(metav1.Object); isObject { // It has one of the kinds, and another workload created it.
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: metadata.GetNamespace(), Name: metadata.GetName(), UID: metadata.GetUID(), ResourceVersion: metadata.GetResourceVersion(),
		}}, nil
	}
	return object, nil
}

// Reduce returns the record of a workload, without changing the workload. It returns nil for other objects. The record
// shares the memory of an unchanged earlier record in the cache.
func (c *Cache) Reduce(object workload.Object) *Record {
	content, ok := workload.Read(object)
	if !ok {
		return nil
	}
	ownership, excess := c.ownerships.get(object)
	record := newRecord(object, &content, ownership)
	record.viewVersion = object.GetResourceVersion()
	if c.hasShapes {
		record.state.Shape = workload.ShapeDigest(object, record.ownership.Owned)
	}
	previous := c.Get(record.Kind, record.Namespace, record.Name)
	if previous != nil && record.HasSameView(previous.RunBy(nil)) {
		record.shareView(previous.RunBy(nil))
	} else {
		record.dropOversized(excess)
		record.pod = sharePod(c.pods, record.pod)
	}
	return record
}

// shareView makes the record share the View of an earlier record that differs only in its State.
func (r *Record) shareView(previous *Record) {
	r.object, r.pod, r.viewVersion, r.ownership = previous.object, previous.pod, previous.viewVersion, previous.ownership
}
