// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
)

// revertRequests selects the events of VectorSidecars that start or stop using a reverted spec, because the rendered sidecar
// may then conflict with other VectorSidecars.
func revertRequests() predicate.Predicate {
	isReverted := func(o client.Object) bool {
		sidecar, ok := o.(*v1alpha1.VectorSidecar)
		return ok && sidecar.Status.Reverted != nil
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return isReverted(e.ObjectOld) != isReverted(e.ObjectNew) }}
}

// laterChanges drops the events of the initial list, because every VectorSidecar is reconciled at startup.
func laterChanges() predicate.Predicate {
	return predicate.And(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, revertRequests()), predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	})
}

func configMapChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isOld := e.ObjectOld.(*corev1.ConfigMap)
		after, isNew := e.ObjectNew.(*corev1.ConfigMap)
		return !isOld || !isNew || companion.HasOtherContent(before, after)
	}}
}
