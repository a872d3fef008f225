// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Removal deletes the OverlaySets of an earlier operator that had admission injection, once. Without an operator that
// writes them, they would become outdated, and the API server would inject outdated sidecars when its policies are
// restored.
type Removal struct {
	live       *livelist.Client
	writer     *apply.Writer
	namespaces []string
}

// NewRemoval returns the removal of the OverlaySets in the given namespaces, or in all namespaces for none.
func NewRemoval(live *livelist.Client, writer *apply.Writer, namespaces []string) *Removal {
	return &Removal{live: live, writer: writer, namespaces: namespaces}
}

// SetupWithManager adds the removal to a manager. The removal also ends with the context.
func (o *Removal) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	ctx = log.IntoContext(ctx, telemetry.ControllerLogger(mgr.GetLogger()))
	return mgr.Add(shutdown.StopRunnable(ctx, manager.RunnableFunc(func(running context.Context) error {
		return o.deleteAll(log.IntoContext(running, log.FromContext(ctx)))
	})))
}

// deleteAll deletes all OverlaySets. It logs the errors of OverlaySets that cannot be listed or deleted, and returns
// nil.
func (o *Removal) deleteAll(ctx context.Context) error {
	namespaces := o.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		namespacesWithSet, err := removal.FindOverlaySets(ctx, o.live, namespace)
		if err != nil {
			log.FromContext(ctx).V(1).Info("cannot list overlay sets", "namespace", namespace, "cause", err.Error())
			continue
		}
		for _, namespace := range namespacesWithSet {
			if err := o.writer.DeleteOverlaySet(ctx, namespace); err != nil {
				log.FromContext(ctx).Error(err, "deleting an unused overlay set")
			}
		}
	}
	return nil
}
