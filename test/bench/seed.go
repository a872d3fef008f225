// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The label that the measured VectorSidecars select.
const (
	wantedKey   = "logs"
	wantedValue = "vector"
)

// seed creates Deployments, each changed by change unless that is nil.
func (c *cluster) seed(ctx context.Context, namespace string, count int, change func(int, *appsv1.Deployment)) error {
	return c.seedFrom(ctx, namespace, 0, count, change)
}

// seedFrom creates the Deployments with numbers from first on.
func (c *cluster) seedFrom(ctx context.Context, namespace string, first, count int, change func(int, *appsv1.Deployment)) error {
	return each(ctx, count-first, func(ctx context.Context, n int) error {
		n += first
		object := application(appName(n), namespace)
		if change != nil {
			change(n, object)
		}
		_, err := c.set.AppsV1().Deployments(namespace).Create(ctx, object, metav1.CreateOptions{FieldManager: "helm"})
		return err
	})
}

func appName(n int) string { return fmt.Sprintf("app-%05d", n) }

// clear deletes the objects of a round.
func (c *cluster) clear(ctx context.Context, namespace string) error {
	now, background := int64(0), metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background}
	return c.set.AppsV1().Deployments(namespace).DeleteCollection(ctx, options, metav1.ListOptions{})
}

// each calls a function for every number below count, with some calls at once.
func each(ctx context.Context, count int, call func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for n := range count {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return call(ctx, n) })
	}
	return group.Wait()
}

func wanted(_ int, d *appsv1.Deployment) {
	metav1.SetMetaDataLabel(&d.ObjectMeta, wantedKey, wantedValue)
}

// scaledDown makes a selected Deployment whose rollouts have no pods to wait for.
func scaledDown(n int, d *appsv1.Deployment) {
	wanted(n, d)
	d.Spec.Replicas = new(int32)
}

// application returns a Deployment of a typical size: with labels, variables, probes, requests and volumes; about
// four kilobytes as JSON.
func application(name, namespace string) *appsv1.Deployment {
	object := objects.NewDeployment(name, namespace).WithReplicas(2).
		Labeled("app.kubernetes.io/name", name).Labeled("app.kubernetes.io/instance", name).
		Labeled("app.kubernetes.io/managed-by", "Helm").Labeled("team", "payments").
		Annotated("meta.helm.sh/release-name", name).Annotated("meta.helm.sh/release-namespace", namespace).
		PodAnnotated("checksum/config", "8c6f1b0fb3d1d2b26c9f0ab3a56c3f1a7e0d3c55").
		WithEmptyDir("logs", "/var/log/app").WithEmptyDir("tmp", "/tmp").
		WithPort(8080).WithPort(9090).Build()
	app := &object.Spec.Template.Spec.Containers[0]
	for n := range 12 {
		app.Env = append(app.Env, corev1.EnvVar{Name: fmt.Sprintf("APPLICATION_SETTING_%d", n), Value: "a value of some length"})
	}
	app.Resources = *objects.Requests("100m", "128Mi")
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8080)}}}
	app.LivenessProbe, app.ReadinessProbe = probe, probe
	return object
}
