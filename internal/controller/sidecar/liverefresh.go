// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// liveRefresh corrects the workload cache from a list of the live workloads of a namespace. Otherwise, the cache
// relies on its watches alone.
type liveRefresh struct {
	live      *livelist.Client
	workloads *workloadcache.Cache
	now       func() time.Time
	running   singleflight.Group

	// requests has, by namespace, the annotation value for which its workloads were last listed.
	requests sync.Map
}

// pendingRequest returns the value of the annotation that requests a reconcile without earlier results, or "" if it
// is missing or already handled. If the value also requests a list of the live workloads, pendingRequest lists them.
func (l *liveRefresh) pendingRequest(ctx context.Context, sidecar *v1alpha1.VectorSidecar, sidecarState *state.Sidecar) (string, error) {
	request := notify.ReconcileRequest(sidecar)
	if request == "" || request == sidecarState.Status(sidecar).LastHandledReconcileAt {
		return "", nil
	}
	if strings.HasSuffix(request, meta.ReconcileLive) {
		if err := l.refreshNamespace(ctx, sidecar.Namespace, request); err != nil {
			return "", err
		}
	}
	return request, nil
}

// refreshNamespace lists the workloads of a namespace, once for each value of the annotation that requests it.
func (l *liveRefresh) refreshNamespace(ctx context.Context, namespace, request string) error {
	if handled, _ := l.requests.Load(namespace); handled == request {
		return nil
	}
	_, err, _ := l.running.Do(namespace+"\n"+request, func() (any, error) {
		corrected := 0
		for _, kind := range l.workloads.Kinds() {
			if !l.workloads.HasKind(kind) {
				continue
			}
			n, err := l.refreshKind(ctx, kind, namespace)
			if err != nil {
				return nil, fmt.Errorf("listing live %s of namespace %s: %w", kind.Plural, namespace, err)
			}
			corrected += n
		}
		log.FromContext(ctx).Info("listed live workloads", telemetry.KeyNamespace, namespace, "corrected", corrected)
		l.requests.Store(namespace, request)
		return nil, nil
	})
	return err
}

// refreshKind lists the live workloads of a kind and corrects the cache. It returns the number of workloads that the cache
// lacked, had in an earlier version, or had although they are deleted.
func (l *liveRefresh) refreshKind(ctx context.Context, kind *workload.Kind, namespace string) (corrected int, err error) {
	var missing []*workloadcache.Record
	list := kind.NewList()
	live, err := livelist.Collect(ctx, l.live, list, func(object client.Object) (types.UID, bool) {
		workloadObject, isWorkload := workload.ToObject(object)
		if !isWorkload {
			return "", false
		}
		cached := l.workloads.Get(kind.Kind, namespace, object.GetName())
		if cached == nil || cached.UID != object.GetUID() {
			if record := l.workloads.Reduce(workloadObject); record != nil {
				missing = append(missing, record)
			}
		} else if l.workloads.PutLive(workloadObject, l.now()) {
			corrected++
		}
		return object.GetUID(), true
	}, client.InNamespace(namespace))
	if err != nil {
		return 0, err
	}
	return corrected + l.deleteOthers(kind, namespace, live, list.GetResourceVersion()) + l.add(ctx, kind, missing), nil
}

// deleteOthers deletes the workloads of a kind from the cache that a list lacks, and returns their number. version is
// the resource version of the list.
func (l *liveRefresh) deleteOthers(kind *workload.Kind, namespace string, live []types.UID, version string) (deleted int) {
	isLive := map[types.UID]bool{}
	for _, uid := range live {
		isLive[uid] = true
	}
	for _, record := range l.workloads.List(namespace) {
		// A workload that is newer than the list was created after it.
		if record.Kind == kind.Kind && !isLive[record.UID] && !workloadcache.IsOlder(version, record.ResourceVersion()) {
			l.workloads.Delete(record)
			deleted++
		}
	}
	return deleted
}

// add adds listed workloads that the cache does not have. A workload that was deleted after the list is removed from
// the cache again, because its watch event may have come earlier.
func (l *liveRefresh) add(ctx context.Context, kind *workload.Kind, missing []*workloadcache.Record) (added int) {
	for _, record := range missing {
		if l.workloads.Get(kind.Kind, record.Namespace, record.Name) != nil {
			continue // The watch was faster.
		}
		l.workloads.Put(record)
		current := &metav1.PartialObjectMetadata{}
		current.SetGroupVersionKind(kind.GroupVersionKind)
		err := l.live.Get(ctx, types.NamespacedName{Namespace: record.Namespace, Name: record.Name}, current)
		if apierrors.IsNotFound(err) || err == nil && current.UID != record.UID {
			l.workloads.Delete(record)
			continue
		}
		added++
	}
	return added
}

// forget drops the request of a namespace.
func (l *liveRefresh) forget(namespace string) { l.requests.Delete(namespace) }
