// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// rolledOut waits until the controllers have rolled out all created Deployments.
func (b *bench) rolledOut(ctx context.Context, namespace string, count int) error {
	return until(ctx, "Deployments to be rolled out", func() (bool, error) {
		all, err := b.deployments(ctx, namespace)
		done := 0
		for n := range all {
			if isComplete(&all[n]) {
				done++
			}
		}
		return done == count, err
	})
}

// standing counts the Deployments whose rollout has not finished, and those with the sidecar.
func (b *bench) standing(ctx context.Context, namespace string) (unfinished, injected int, err error) {
	all, err := b.deployments(ctx, namespace)
	for n := range all {
		if !isComplete(&all[n]) {
			unfinished++
		}
		if all[n].Annotations[meta.AnnotationInjected] != "" {
			injected++
		}
	}
	return unfinished, injected, err
}

// deployments lists all Deployments, at most ten times a second, to limit its effect on the measurement.
func (b *bench) deployments(ctx context.Context, namespace string) ([]appsv1.Deployment, error) {
	if err := pause(ctx, 100*time.Millisecond); err != nil {
		return nil, err
	}
	all, err := b.cluster.set.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	return all.Items, nil
}

func isComplete(d *appsv1.Deployment) bool {
	s := &d.Status
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == *d.Spec.Replicas &&
		s.Replicas == s.UpdatedReplicas && s.AvailableReplicas == s.UpdatedReplicas
}
