// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// auditPatience is how long the watch may lag behind a live list.
	auditPatience = 10 * time.Second
	// auditPoll is how often to compare the two in that time.
	auditPoll = 100 * time.Millisecond
	// confirmedAtMost is how many workloads are confirmed one by one. If more differ, the watch is
	// at fault.
	confirmedAtMost = 50
)

// difference is a workload for which the cache does not hold what the API server has.
type difference struct {
	workload.Ref
	// live and cached are the resource versions, "" if there is no such object.
	live, cached string
}

// liveDiff compares the cache of workloads with the API server.
type liveDiff struct {
	live      *livelist.Client
	workloads *workloadcache.Cache
}

// differences lists the metadata of the live workloads of a namespace, or all if "", page by page
// with consistent reads, and compares them with the cache. A difference that the watch resolves
// within auditPatience does not count.
func (l *liveDiff) differences(ctx context.Context, namespace string) ([]difference, error) {
	found, err := l.candidates(ctx, namespace)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, auditPoll, auditPatience, true, func(context.Context) (bool, error) {
		found = l.left(found)
		return len(found) == 0, nil
	})
	if err == nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return l.confirmed(ctx, found)
}

// candidates returns the workloads that differ at the time of the list.
func (l *liveDiff) candidates(ctx context.Context, namespace string) ([]difference, error) {
	var found []difference
	for _, kind := range l.workloads.Kinds() {
		if !l.workloads.Has(kind) {
			continue
		}
		of, err := l.candidatesOf(ctx, kind, namespace)
		if err != nil {
			return nil, err
		}
		found = append(found, of...)
	}
	return found, nil
}

func (l *liveDiff) candidatesOf(ctx context.Context, kind *workload.Kind, namespace string) ([]difference, error) {
	var found []difference
	listed := map[types.UID]bool{}
	type version struct {
		workload.Ref
		resourceVersion string
	}
	list := livelist.Metadata(kind.GroupVersionKind)
	versions, err := livelist.Collect(ctx, l.live, list, func(live client.Object) (version, bool) {
		ref := workload.Ref{Kind: kind.Kind, Namespace: live.GetNamespace(), Name: live.GetName(), UID: live.GetUID()}
		return version{ref, live.GetResourceVersion()}, true
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind.Plural, err)
	}
	for i := range versions {
		listed[versions[i].UID] = true
		if one := l.compared(&difference{Ref: versions[i].Ref, live: versions[i].resourceVersion}); one != nil {
			found = append(found, *one)
		}
	}
	for _, record := range l.workloads.In(namespace) {
		// All pages have the resource version of the first one.
		if record.Ref().Kind == kind.Kind && !listed[record.UID] && !workloadcache.IsOlder(list.ResourceVersion, record.ResourceVersion()) {
			found = append(found, difference{Ref: record.Ref(), cached: record.ResourceVersion()})
		}
	}
	return found, nil
}

// compared compares a difference with the cache, which may have moved on. It returns nil if there
// is none left.
func (l *liveDiff) compared(one *difference) *difference {
	record := l.workloads.Get(one.Kind, one.Namespace, one.Name)
	has := record != nil && record.UID == one.UID
	switch {
	case one.live == "" && (!has || record.ResourceVersion() != one.cached):
		return nil
	case one.live != "" && has && !workloadcache.IsOlder(record.ResourceVersion(), one.live):
		return nil
	}
	left := *one
	left.cached = ""
	if has {
		left.cached = record.ResourceVersion()
	}
	return &left
}

// left returns those of the differences that still exist.
func (l *liveDiff) left(found []difference) []difference {
	var left []difference
	for i := range found {
		if one := l.compared(&found[i]); one != nil {
			left = append(left, *one)
		}
	}
	return left
}

// confirmed reads differing workloads one by one: one that was deleted since the list is rightly
// missing from the cache.
func (l *liveDiff) confirmed(ctx context.Context, found []difference) ([]difference, error) {
	var failure error
	few := found[:min(len(found), confirmedAtMost)]
	isGone := func(one difference) bool {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(workload.KindNamed(one.Kind).GroupVersionKind)
		err := l.live.Get(ctx, types.NamespacedName{Namespace: one.Namespace, Name: one.Name}, live)
		switch {
		case apierrors.IsNotFound(err):
			return one.live != ""
		case err != nil:
			failure = fmt.Errorf("reading %s %s/%s: %w", one.Kind, one.Namespace, one.Name, err)
			return false
		}
		return one.live != "" && live.UID != one.UID
	}
	confirmed := slices.DeleteFunc(slices.Clone(few), isGone)
	return append(confirmed, found[len(few):]...), failure
}
