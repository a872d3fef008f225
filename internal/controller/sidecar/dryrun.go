// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// Snapshot returns the snapshot that a reconcile would read if the cluster had this VectorSidecar, which need not
// exist. It uses the spec as written, even if the spec is reverted. It does not change the state of the
// VectorSidecarReconciler, and also works on a standby replica.
func (r *VectorSidecarReconciler) Snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*decision.Input, error) {
	if err := r.HasRead(); err != nil {
		return nil, err
	}
	sidecarState := r.memory.Peek(client.ObjectKeyFromObject(sidecar))
	return r.snapshots.snapshotFrom(ctx, lastgood.IgnoreRevert(sidecar), &cacheSource{snapshots: r.snapshots, known: sidecarState, isDryRun: true})
}

// Namespaces returns the namespaces that a ClusterVectorSidecar selects, none if the kind is disabled.
func (r *VectorSidecarReconciler) Namespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) ([]clusterwide.Namespace, error) {
	if err := r.HasRead(); err != nil {
		return nil, err
	}
	lister := r.snapshots.sidecars
	if !lister.HasClusters() {
		return nil, nil
	}
	selector, _ := lister.Selector(cluster)
	objects := lister.Namespaces(ctx, "")
	var selected []clusterwide.Namespace
	for i := range objects {
		if !selector.Selects(&objects[i]) {
			continue
		}
		environment, _ := r.snapshots.options.Settings.ResolveEnvironment(clusterwide.NewSidecar(cluster, objects[i].Name, true), objects[i].Labels)
		selected = append(selected, clusterwide.Namespace{Name: objects[i].Name, Environment: environment, Created: objects[i].CreationTimestamp})
	}
	return selected, nil
}

// HasRead returns an error until the cache holds all workloads.
func (r *VectorSidecarReconciler) HasRead() error {
	if !r.snapshots.workloads.IsSynced() {
		return errors.New("the operator has not read all workloads yet; retry in a few seconds")
	}
	return nil
}
