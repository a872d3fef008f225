// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// Snapshot takes the snapshot that a pass would take if a VectorSidecar were as
// given, which the cluster need not have. It leaves no trace in what the loop
// remembers, and may be asked for in an operator that stands by.
func (r *Reconciler) Snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*evaluate.Snapshot, error) {
	if err := r.HasRead(); err != nil {
		return nil, err
	}
	taken, err := r.snapshot(ctx, sidecar, r.memory.Peek(client.ObjectKeyFromObject(sidecar)))
	if err != nil {
		return nil, err
	}
	if err := source.Read(ctx, taken, r, []string{meta.NamespaceDefaults}); err != nil {
		return nil, err
	}
	// What is created may have the name of one that is there, which it then cannot be.
	taken.Others = slices.DeleteFunc(taken.Others, func(other v1alpha1.VectorSidecar) bool { return other.Name == sidecar.Name })
	return taken, nil
}

// HasRead returns an error until all workloads are read.
func (r *Reconciler) HasRead() error {
	if !r.fleet.IsSynced() {
		return errors.New("the operator has not read all workloads yet: try again in a moment")
	}
	return nil
}

// ConfigMap reads a ConfigMap for a preview, nil if there is none.
func (r *Reconciler) ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	cached := &corev1.ConfigMap{}
	if err := r.client.Get(ctx, name, cached); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return r.contents.peek(ctx, cached)
}
