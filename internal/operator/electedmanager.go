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
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// newManager returns the manager, with the lock if leader election is enabled.
func newManager(ctx context.Context, config *rest.Config, options Options, caching informerOptions) (ctrl.Manager, error) {
	settings := managerOptions(ctx, options, caching)
	if !options.LeaderElect {
		return ctrl.NewManager(config, settings)
	}
	return newElectedManager(config, settings, options, caching.pager)
}

// newElectedManager returns a manager that waits until it is elected, and ends when it loses the
// lease.
func newElectedManager(config *rest.Config, settings ctrl.Options, options Options, pager *livelist.Pager) (ctrl.Manager, error) {
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
	lock.IsUnused = func(ctx context.Context) (bool, error) {
		return isUnused(ctx, pager.Client(mgr.GetAPIReader()), options)
	}
	// The elector only supports the legacy events API.
	lock.LockConfig.EventRecorder = mgr.GetEventRecorderFor(lock.Identity()) //nolint:staticcheck // Deprecated together with that API.
	if err := mgr.Add(lock); err != nil {
		return nil, fmt.Errorf("adding the lock of the leader election to the manager: %w", err)
	}
	return mgr, nil
}

// isUnused reports whether an operator has never reconciled a VectorSidecar or ClusterVectorSidecar, because none has
// the finalizer or a status.
func isUnused(ctx context.Context, live *livelist.Client, options Options) (bool, error) {
	namespaces := options.WatchNamespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	unused, err := areUnused(ctx, live, "VectorSidecar", namespaces)
	if err != nil || !unused || !options.ClusterSidecars {
		return unused, err
	}
	return areUnused(ctx, live, "ClusterVectorSidecar", namespaces)
}

// areUnused reports whether an operator has never reconciled an object of a kind in the namespaces. It returns true if
// the kind does not exist.
func areUnused(ctx context.Context, live *livelist.Client, kind string, namespaces []string) (bool, error) {
	for _, namespace := range namespaces {
		isUsed, err := livelist.Contains(ctx, live, livelist.Metadata(v1alpha1.GroupVersion.WithKind(kind)), wasReconciled, client.InNamespace(namespace))
		if apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) {
			return true, nil // The CRD does not exist.
		}
		if err != nil {
			return false, fmt.Errorf("listing objects of kind %s to find reconciled ones: %w", kind, err)
		}
		if isUsed {
			return false, nil
		}
	}
	return true, nil
}

// wasReconciled reports, from the metadata of a VectorSidecar, whether an operator has ever
// reconciled it.
func wasReconciled(sidecar client.Object) bool {
	hasStatus := func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == "status" }
	return slices.Contains(sidecar.GetFinalizers(), meta.Finalizer) || slices.ContainsFunc(sidecar.GetManagedFields(), hasStatus)
}
