// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// deleteStrays deletes unreferenced companions, which were written after their VectorSidecar was deleted. The cache
// provides candidates, and the API server confirms them.
func (s *sweeper) deleteStrays(ctx context.Context) progress {
	var marked corev1.ConfigMapList
	if err := s.client.List(ctx, &marked, client.HasLabels{meta.LabelSidecar}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing companions")
		return notAble
	}
	owners := companion.NewOwners(carriersOf(s.views.workloads.ListTraced()), s.sidecars.ListIn(ctx, ""), s.sidecars.Clusters(ctx))
	strays := map[string][]string{}
	for i := range marked.Items {
		configMap := &marked.Items[i]
		if !s.sidecars.HasClusters() && meta.IsLabelOfCluster(configMap.Labels[meta.LabelSidecar]) {
			continue // An installation that enables the kind deletes them.
		}
		if owners.IsStray(configMap, s.clock()) {
			strays[configMap.Namespace] = append(strays[configMap.Namespace], configMap.Name)
		}
	}
	for namespace := range s.strayed {
		if strays[namespace] == nil {
			s.uses.Forget(types.NamespacedName{Namespace: namespace})
		}
	}
	clear(s.strayed)
	progress := allSwept
	for namespace, names := range strays {
		s.strayed[namespace] = true
		if err := s.deleteStraysIn(ctx, namespace, names); err != nil {
			log.FromContext(ctx).Error(err, "deleting stray companions", telemetry.KeyNamespace, namespace)
			progress = notAble
		}
	}
	return progress
}

// deleteStraysIn deletes the named ConfigMaps of a namespace that are unreferenced according to the API server and that
// no revision refers to. If the use by revisions is still unknown, the cleanup runs again later.
func (s *sweeper) deleteStraysIn(ctx context.Context, namespace string, names []string) error {
	unused, err := s.uses.UnusedCompanions(types.NamespacedName{Namespace: namespace}, names, noWorkloads)
	if err != nil || len(unused) == 0 {
		return err
	}
	sidecars, clusters, err := s.liveSidecars(ctx, namespace)
	if err != nil {
		return err
	}
	owners := companion.NewOwners(carriersOf(s.views.workloads.ListTraced()), sidecars, clusters)
	for _, name := range unused {
		name := types.NamespacedName{Namespace: namespace, Name: name}
		live := &corev1.ConfigMap{}
		if err := s.live.Get(ctx, name, live); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading ConfigMap %s: %w", name, err)
		} else if err != nil || !companion.IsOurs(live) || !owners.IsStray(live, s.clock()) {
			continue
		}
		if err := s.writer.DeleteCompanion(ctx, name); err != nil {
			return err
		}
		log.FromContext(ctx).Info("stray companion deleted", telemetry.KeyNamespace, namespace, "configMap", name.Name)
	}
	return nil
}

// noWorkloads yields nothing, because unreferenced companions have no VectorSidecar with workloads that could have
// changed.
func noWorkloads(func(types.UID) bool) {}

// wakeAfterList returns the function that requests a reconcile of a VectorSidecar after a list of revisions. Without a
// name, the function starts the leftover cleanup.
func wakeAfterList(notifier *notify.Notifier, leftovers *leftoverSignal) func(types.NamespacedName) {
	return func(name types.NamespacedName) {
		if name.Name == "" {
			leftovers.wake()
			return
		}
		notifier.NotifyWithLowPriority(name)
	}
}
