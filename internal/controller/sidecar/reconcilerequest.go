// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// longestAsking is the maximum length of the annotation's value in bytes. The rest is ignored, because the status
// repeats the value.
const longestAsking = 128

// reconcileRequestKey returns the value of the annotation that requests a reconcile without earlier results. It returns "" if the
// annotation is missing.
func reconcileRequestKey(sidecar client.Object) string {
	text := sidecar.GetAnnotations()[meta.AnnotationReconcileAt]
	return strings.ToValidUTF8(text[:min(len(text), longestAsking)], "")
}

// reconcileRequests selects the events of VectorSidecars with a changed annotation that requests a reconcile without earlier
// results.
func reconcileRequests() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return reconcileRequestKey(e.ObjectOld) != reconcileRequestKey(e.ObjectNew)
	}}
}
