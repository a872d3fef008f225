// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// rejudger requests a reconcile of every VectorSidecar that does not use earlier renderings or evaluations,
// so that a wrong cached state does not last. The records of writes and rejections remain, because they still apply in
// the cluster.
type rejudger struct {
	sidecars sidecarLister
	memory   *state.Memory
	notifier *notify.Notifier
}

func (r rejudger) requestResyncs(ctx context.Context) error {
	for _, name := range keysOf(r.sidecars.list(ctx, "")) {
		r.memory.Of(name).ResyncNext()
		r.notifier.NotifyWithLowPriority(name)
	}
	return nil
}

// longestAsking is the maximum length of the annotation's value. The rest is ignored, because the status repeats the
// value.
const longestAsking = 128

// askingOf returns the value of the annotation that requests a reconcile without earlier results. It returns "" if the
// annotation is missing.
func askingOf(sidecar client.Object) string {
	text := sidecar.GetAnnotations()[meta.AnnotationReconcileAt]
	return strings.ToValidUTF8(text[:min(len(text), longestAsking)], "")
}

// asksAnew selects the events of VectorSidecars with a changed annotation that requests a reconcile without earlier
// results.
func asksAnew() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return askingOf(e.ObjectOld) != askingOf(e.ObjectNew) }}
}
