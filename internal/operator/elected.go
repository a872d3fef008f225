// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// newManager makes what runs the loop, and the lock if there is an election.
func newManager(ctx context.Context, config *rest.Config, options Options, workloads *workloadcache.Cache, lists *relister) (ctrl.Manager, error) {
	settings := managerOptions(ctx, options, workloads, lists)
	if !options.LeaderElect {
		return ctrl.NewManager(config, settings)
	}
	return newElectedManager(config, settings, options.WatchNamespaces)
}

// newElectedManager makes a manager that waits for its turn, and ends when it has lost it.
func newElectedManager(config *rest.Config, settings ctrl.Options, namespaces []string) (ctrl.Manager, error) {
	lock, err := election.New(config, election.Options{
		Namespace: settings.LeaderElectionNamespace, Name: settings.LeaderElectionID,
		RenewDeadline: *settings.RenewDeadline, RetryPeriod: *settings.RetryPeriod,
	})
	if err != nil {
		return nil, err
	}
	settings.LeaderElectionResourceLockInterface = lock
	config = rest.CopyConfig(config)
	config.Wrap(lock.Fence)
	mgr, err := ctrl.NewManager(config, settings)
	if err != nil {
		return nil, err
	}
	lock.IsUnused = func(ctx context.Context) (bool, error) { return isUnused(ctx, mgr.GetAPIReader(), namespaces) }
	// The elector knows only the older kind of events.
	lock.LockConfig.EventRecorder = mgr.GetEventRecorderFor(lock.Identity()) //nolint:staticcheck // see above
	if err := mgr.Add(lock); err != nil {
		return nil, fmt.Errorf("adding the lock: %w", err)
	}
	return mgr, nil
}

// sidecarsAtOnce bounds what one answer of the API server holds.
const sidecarsAtOnce = 500

// isUnused reports whether no VectorSidecar of some namespaces, of all if there are none
// given, was ever reconciled: none has the finalizer, or a status.
func isUnused(ctx context.Context, live client.Reader, namespaces []string) (bool, error) {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("VectorSidecarList"))
	for _, namespace := range namespaces {
		for page.Continue = ""; ; {
			err := live.List(ctx, page, client.InNamespace(namespace), client.Limit(sidecarsAtOnce), client.Continue(page.Continue))
			if apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) {
				return true, nil // There cannot be any.
			}
			if err != nil {
				return false, fmt.Errorf("looking for VectorSidecars that were reconciled: %w", err)
			}
			if slices.ContainsFunc(page.Items, wasReconciled) {
				return false, nil
			}
			if page.Continue == "" {
				break
			}
		}
	}
	return true, nil
}

// wasReconciled tells by the metadata of a VectorSidecar whether an operator has taken it
// up.
func wasReconciled(sidecar metav1.PartialObjectMetadata) bool {
	hasStatus := func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == "status" }
	return slices.Contains(sidecar.Finalizers, meta.Finalizer) || slices.ContainsFunc(sidecar.ManagedFields, hasStatus)
}
