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
	previous := c.Get(content.Kind.Kind, object.GetNamespace(), object.GetName())
	if previous != nil {
		previous = previous.RunBy(nil)
	}
	record := newRecord(object, &content, c.ownerships.get(object, previous))
	if previous != nil && previous.hasSameSpec(object) && previous.ownership == record.ownership {
		record.pod, record.state.Template, record.state.Shape = previous.pod, previous.state.Template, previous.state.Shape
		record.object.Unread.Template = previous.object.Unread.Template
	} else {
		record.readTemplate(&content)
		record.pod = sharePod(c.pods, record.pod)
		if c.hasShapes {
			record.state.Shape = workload.ShapeDigest(object, record.ownership.Owned)
		}
	}
	if previous != nil && record.HasSameView(previous) {
		record.shareView(previous)
	} else {
		record.shareStrings()
	}
	return record
}

// shareView makes the record share the View of an earlier record that differs only in its State.
func (r *Record) shareView(previous *Record) {
	r.Ref, r.object, r.pod, r.ownership = previous.Ref, previous.object, previous.pod, previous.ownership
}
