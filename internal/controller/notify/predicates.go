// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// longestRequest is the maximum length of a requested reconcile in bytes. The rest of the annotation's value is ignored,
// because the status repeats the value.
const longestRequest = 128

// SidecarChanges selects the events of a VectorSidecar or ClusterVectorSidecar with a changed spec, a started deletion,
// or a changed annotation that requests a reconcile or another revision. Status changes are not selected, because the
// operator makes them.
func SidecarChanges() predicate.Predicate {
	requestValues := func(o client.Object) [4]string {
		annotations := o.GetAnnotations()
		return [4]string{
			ReconcileRequest(o), annotations[meta.AnnotationUndoRollout], annotations[meta.AnnotationPromoteRollout], annotations[meta.AnnotationRetryRollout],
		}
	}
	requests := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return requestValues(e.ObjectOld) != requestValues(e.ObjectNew) }}
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, requests)
}

// ReconcileRequest returns the value of the annotation that requests a reconcile without earlier results. It returns ""
// if the annotation is missing.
func ReconcileRequest(sidecar client.Object) string {
	text := sidecar.GetAnnotations()[meta.AnnotationReconcileAt]
	return strings.ToValidUTF8(text[:min(len(text), longestRequest)], "")
}
