// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// apiInterval is the interval between checks for the API of an optional kind.
	apiInterval = time.Minute
	// apiRetry is the interval between checks at startup. Until the API server answers, the workloads of the kind are
	// unknown.
	apiRetry = time.Second
)

// detectAPI watches an optional kind while the cluster serves its API. It returns when the API server has answered the first
// check. The returned function reports whether the workloads of the kind are listed, and is nil if the cluster does not
// serve the API.
func (s *Source) detectAPI(ctx context.Context, kind *workload.Kind) (synced toolscache.InformerSynced, err error) {
	isKnown := func(context.Context) (bool, error) {
		isServed, err := s.hasAPI(kind)
		if err != nil {
			log.FromContext(ctx).Error(err, "checking for an API", telemetry.KeyKind, kind.Kind)
			return false, nil
		}
		if !isServed {
			log.FromContext(ctx).Info("waiting for a missing API", telemetry.KeyKind, kind.Kind, "interval", apiInterval.String())
			return true, nil
		}
		synced, err = s.addAPI(ctx, kind)
		return true, err
	}
	if err := wait.PollUntilContextCancel(ctx, apiRetry, true, isKnown); err != nil {
		return nil, err
	}
	checks := schedule.Every(apiInterval, func(ctx context.Context) error {
		if err := s.redetectAPI(ctx, kind); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "checking for an API", telemetry.KeyKind, kind.Kind)
		}
		return nil
	})
	go func() { _ = checks(ctx) }()
	return synced, nil
}

// redetectAPI starts or ends the watch of a kind if its API was added or removed since the last check. It then
// requests a reconcile of the VectorSidecars that list the kind.
func (s *Source) redetectAPI(ctx context.Context, kind *workload.Kind) error {
	isServed, err := s.hasAPI(kind)
	if err != nil || isServed == s.Workloads.HasKind(kind) {
		return err
	}
	if isServed {
		synced, err := s.addAPI(ctx, kind)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, apiInterval) // The API may disappear again.
		defer cancel()
		toolscache.WaitForCacheSync(ctx.Done(), synced)
	} else if err := s.removeAPI(ctx, kind); err != nil {
		return err
	}
	s.Notifier.Notify(s.sidecarsListing(ctx, kind)...)
	return nil
}

// addAPI starts the watch of a kind after its API was added. The returned function reports whether the workloads of
// the kind are listed.
func (s *Source) addAPI(ctx context.Context, kind *workload.Kind) (toolscache.InformerSynced, error) {
	s.Workloads.AddKind(kind)
	synced, err := s.watchKind(ctx, kind)
	if err != nil {
		s.Workloads.RemoveKind(kind)
		return nil, err
	}
	log.FromContext(ctx).Info("watching a workload kind", telemetry.KeyKind, kind.Kind)
	return synced, nil
}

// removeAPI ends the watch of a kind after its API was removed.
func (s *Source) removeAPI(ctx context.Context, kind *workload.Kind) error {
	if err := s.Cache.RemoveInformer(ctx, kind.NewWatchObject()); err != nil {
		return fmt.Errorf("ending the watch of %s: %w", kind.Plural, err)
	}
	lost, changed := s.Workloads.RemoveKind(kind)
	s.Metrics.AddCachedObjects(kind.Kind, -len(lost))
	for _, record := range changed {
		s.notify(ctx, record)
	}
	log.FromContext(ctx).Info("waiting for a missing API", telemetry.KeyKind, kind.Kind, "interval", apiInterval.String())
	return nil
}

// hasAPI reports whether the API server serves a kind.
func (s *Source) hasAPI(kind *workload.Kind) (bool, error) {
	resources, err := s.APIs.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discovering the resources of %s: %w", kind.GroupVersion(), err)
	}
	return slices.ContainsFunc(resources.APIResources, func(resource metav1.APIResource) bool { return resource.Name == kind.Resource }), nil
}

// sidecarsListing returns the VectorSidecars that list a workload kind.
func (s *Source) sidecarsListing(ctx context.Context, kind *workload.Kind) []types.NamespacedName {
	sidecars := s.Sidecars.ListIn(ctx, "")
	return sidecarcache.Keys(slices.DeleteFunc(slices.Clone(sidecars), func(sidecar v1alpha1.VectorSidecar) bool {
		return !slices.Contains(sidecar.Spec.Kinds(), v1alpha1.WorkloadKind(kind.Kind))
	}))
}
