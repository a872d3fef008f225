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
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// apiInterval is the interval between checks for the API of an optional kind.
	apiInterval = time.Minute
	// apiRetry is the interval between checks at startup. Without an answer the workloads of the kind are unknown.
	apiRetry = time.Second
)

// workloadAPIs watches the workload kinds of optional APIs. A cluster may add or remove such an API at any time.
type workloadAPIs struct {
	*workloadWatch

	// apis returns the APIs of the cluster.
	apis discovery.ServerResourcesInterface
	// listing returns the VectorSidecars that list a workload kind.
	listing  func(ctx context.Context, kind *workload.Kind) []types.NamespacedName
	notifier *notify.Notifier
}

// detectAPI watches an optional kind while the cluster serves its API. It returns when the API server has answered the first
// check. The returned function reports whether the workloads of the kind are listed, and is nil if the cluster does not
// serve the API.
func (w *workloadAPIs) detectAPI(ctx context.Context, kind *workload.Kind, enqueue enqueuer) (synced toolscache.InformerSynced, err error) {
	isKnown := func(context.Context) (bool, error) {
		isServed, err := w.hasAPI(kind)
		if err != nil {
			log.FromContext(ctx).Error(err, "checking for an API", telemetry.KeyKind, kind.Kind)
			return false, nil
		}
		if !isServed {
			log.FromContext(ctx).Info("waiting for a missing API", telemetry.KeyKind, kind.Kind, "interval", apiInterval.String())
			return true, nil
		}
		synced, err = w.addAPI(ctx, kind, enqueue)
		return true, err
	}
	if err := wait.PollUntilContextCancel(ctx, apiRetry, true, isKnown); err != nil {
		return nil, err
	}
	checks := schedule.Every(apiInterval, func(ctx context.Context) error {
		if err := w.redetectAPI(ctx, kind, enqueue); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "checking for an API", telemetry.KeyKind, kind.Kind)
		}
		return nil
	})
	go func() { _ = checks(ctx) }()
	return synced, nil
}

// redetectAPI starts or ends the watch of a kind if its API was added or removed. After that it requests a reconcile of
// the VectorSidecars that list the kind.
func (w *workloadAPIs) redetectAPI(ctx context.Context, kind *workload.Kind, enqueue enqueuer) error {
	isServed, err := w.hasAPI(kind)
	if err != nil || isServed == w.workloads.HasKind(kind) {
		return err
	}
	if isServed {
		synced, err := w.addAPI(ctx, kind, enqueue)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, apiInterval) // The API may disappear again.
		defer cancel()
		toolscache.WaitForCacheSync(ctx.Done(), synced)
	} else if err := w.removeAPI(ctx, kind, enqueue); err != nil {
		return err
	}
	w.notifier.Notify(w.listing(ctx, kind)...)
	return nil
}

// addAPI starts the watch of a kind after its API was added.
func (w *workloadAPIs) addAPI(ctx context.Context, kind *workload.Kind, enqueue enqueuer) (toolscache.InformerSynced, error) {
	w.workloads.AddKind(kind)
	synced, err := w.start(ctx, kind, enqueue)
	if err != nil {
		w.workloads.RemoveKind(kind)
		return nil, err
	}
	log.FromContext(ctx).Info("watching a kind of workloads", telemetry.KeyKind, kind.Kind)
	return synced, nil
}

// removeAPI ends the watch of a kind after its API was removed.
func (w *workloadAPIs) removeAPI(ctx context.Context, kind *workload.Kind, enqueue enqueuer) error {
	if err := w.cache.RemoveInformer(ctx, kind.NewWatchObject()); err != nil {
		return fmt.Errorf("ending the watch of %s: %w", kind.Plural, err)
	}
	lost, changed := w.workloads.RemoveKind(kind)
	w.metrics.AddCachedObjects(kind.Kind, -len(lost))
	for _, record := range changed {
		enqueue(record)
	}
	log.FromContext(ctx).Info("waiting for a missing API", telemetry.KeyKind, kind.Kind, "interval", apiInterval.String())
	return nil
}

// hasAPI reports whether the API server serves a kind.
func (w *workloadAPIs) hasAPI(kind *workload.Kind) (bool, error) {
	resources, err := w.apis.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discovering the resources of %s: %w", kind.GroupVersion(), err)
	}
	return slices.ContainsFunc(resources.APIResources, func(resource metav1.APIResource) bool { return resource.Name == kind.Resource }), nil
}
