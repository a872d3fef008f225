// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package finalizer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// ownedPause is the minimum time between the end of a list of a namespace and the start of the next one. That
	// time is also at least as long as the list took.
	ownedPause = time.Second
	// ownedMaxAge is the time after the end of a list for which its result may be used.
	ownedMaxAge = 10 * time.Second
)

// carrier is a workload that has the sidecar of a VectorSidecar.
type carrier struct {
	workload.Ref

	// isReadable is true if its pod template could be decoded.
	isReadable bool
	isOrphaned bool
}

// ownedObjectLister lists the owned objects of VectorSidecars that are being deleted. It reads them from the API server,
// because the cache may not show the operator's last writes yet. One list of a namespace serves all VectorSidecars that
// wait for it. It is safe for concurrent use.
type ownedObjectLister struct {
	live  *livelist.Client
	kinds []*workload.Kind
	now   func() time.Time

	mu         sync.Mutex
	namespaces map[string]*ownedObjectList
}

// ownedObjectList is the last list of a namespace.
type ownedObjectList struct {
	// requested is the number of lists that had been started when a VectorSidecar made its last write. Only a later
	// list shows the effect of that write.
	requested map[string]int
	started   int
	isListing bool
	// finished is the number of the list with the result, and endTime the end of that list. startTime is the start of the
	// last list, and next the earliest start of another one.
	finished                 int
	startTime, endTime, next time.Time
	// err is the error of the last list, nil if it has succeeded.
	err error
	// carriers are by field manager, companions by the label of their VectorSidecar.
	carriers   map[string][]carrier
	companions map[string][]string
}

// findObjects returns the workloads with the sidecar of a VectorSidecar, and its companions without those that a Job needs for
// further pods. They are as of a list that started after the last write of the VectorSidecar. If such a list is not due
// yet, findObjects returns the wait before the next call, or the error of the last list. hasWritten reports whether the
// VectorSidecar has written since the last call.
func (l *ownedObjectLister) findObjects(ctx context.Context, name types.NamespacedName, hasWritten bool) (carriers []carrier, companions []string, wait time.Duration, err error) {
	list, number := l.requestList(name, hasWritten)
	if number > 0 {
		result, err := l.listObjects(ctx, name.Namespace)
		l.finishList(list, number, result, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := l.now(); {
	case list.err != nil:
		return nil, nil, 0, list.err
	case list.isFresh(name, now):
		carriers, companions = list.carriers[meta.Manager(name.Name)], list.companions[meta.LabelValue(name.Name)]
		if len(carriers) > 0 { // Else the next call may use the same result, for example if a write fails.
			delete(list.requested, name.Name)
		}
		return carriers, companions, 0, nil
	case list.next.After(now):
		return nil, nil, list.next.Sub(now), nil
	}
	return nil, nil, ownedPause, nil // Another VectorSidecar makes the list.
}

// requestList records that a VectorSidecar needs a list, and returns the list of its namespace. If the caller has to
// make the list, number is the number of the list, otherwise 0.
func (l *ownedObjectLister) requestList(name types.NamespacedName, hasWritten bool) (list *ownedObjectList, number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	maps.DeleteFunc(l.namespaces, func(_ string, list *ownedObjectList) bool { return len(list.requested) == 0 && now.After(list.next) })
	if list = l.namespaces[name.Namespace]; list == nil {
		list = &ownedObjectList{requested: map[string]int{}}
		l.namespaces[name.Namespace] = list
	}
	if _, isRequested := list.requested[name.Name]; !isRequested || hasWritten {
		list.requested[name.Name] = list.started
	}
	if list.isListing || now.Before(list.next) || list.isFresh(name, now) {
		return list, 0
	}
	list.started++
	list.isListing, list.startTime = true, now
	return list, list.started
}

// isFresh reports whether the list of the result started after the last write of a VectorSidecar, and ended recently.
func (o *ownedObjectList) isFresh(name types.NamespacedName, now time.Time) bool {
	return o.finished > o.requested[name.Name] && !o.isListing && now.Sub(o.endTime) <= ownedMaxAge
}

// finishList stores the result of the list with a number, or its error.
func (l *ownedObjectLister) finishList(list *ownedObjectList, number int, result *ownedObjectList, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	list.isListing, list.next, list.err = false, now.Add(max(ownedPause, now.Sub(list.startTime))), err
	if err == nil {
		list.finished, list.endTime, list.carriers, list.companions = number, now, result.carriers, result.companions
	}
}

// forget drops the request of a VectorSidecar that does not exist anymore.
func (l *ownedObjectLister) forget(name types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list := l.namespaces[name.Namespace]; list != nil {
		delete(list.requested, name.Name)
	}
}

// listObjects lists the owned objects of all VectorSidecars of a namespace. Companions are listed before the Jobs
// that may need them, so that a Job that is created in between counts.
func (l *ownedObjectLister) listObjects(ctx context.Context, namespace string) (*ownedObjectList, error) {
	result := &ownedObjectList{carriers: map[string][]carrier{}, companions: map[string][]string{}}
	for _, kind := range l.kinds {
		carriers, err := livelist.Collect(ctx, l.live, kind.NewList(), carriersByManager, client.InNamespace(namespace))
		if kind.IsMissingAPI(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("finding workloads that still have the sidecar: %w", err)
		}
		for _, byManager := range carriers {
			for manager, carrier := range byManager {
				result.carriers[manager] = append(result.carriers[manager], carrier)
			}
		}
	}
	labels, err := l.labelsByCompanion(ctx, namespace)
	if err != nil || len(labels) == 0 {
		return result, err
	}
	running := slices.DeleteFunc(workload.HoldersFor(l.kinds), func(holder workload.Holder) bool { return !holder.Starts })
	names := slices.Sorted(maps.Keys(labels))
	used, err := companionuse.Find(ctx, l.live, running, namespace, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !used.Names[name] { // Pods that a Job still starts would wait for a missing ConfigMap.
			result.companions[labels[name]] = append(result.companions[labels[name]], name)
		}
	}
	return result, nil
}

// carriersByManager returns a carrier for each VectorSidecar that has fields in a listed workload, by field manager.
// It returns false if there is none.
func carriersByManager(listed client.Object) (map[string]carrier, bool) {
	object, ok := workload.ToObject(listed)
	if !ok || listed.GetDeletionTimestamp() != nil {
		return nil, false
	}
	view := workload.NewView(object)
	carriers := make(map[string]carrier, len(view.Owned))
	for manager, owned := range view.Owned {
		carriers[manager] = carrier{view.Ref, view.Unread.Template == "", owned.Orphan != ""}
	}
	return carriers, len(carriers) > 0
}

// labelsByCompanion lists the ConfigMaps of a namespace that were made for VectorSidecars. It returns the label of the
// VectorSidecar by the name of the ConfigMap.
func (l *ownedObjectLister) labelsByCompanion(ctx context.Context, namespace string) (map[string]string, error) {
	labels := map[string]string{}
	reduce := func(listed client.Object) (any, bool) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: listed.GetName(), Labels: listed.GetLabels(), Annotations: listed.GetAnnotations(), OwnerReferences: listed.GetOwnerReferences(),
		}}
		if companion.IsCompanion(object) {
			labels[object.Name] = object.Labels[meta.LabelSidecar]
		}
		return nil, false
	}
	_, err := livelist.Collect(ctx, l.live, livelist.Metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap")), reduce,
		client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar})
	if err != nil {
		return nil, fmt.Errorf("listing companions: %w", err)
	}
	return labels, nil
}
