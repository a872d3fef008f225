// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// mixture lists the kinds of a mixed fleet, in equal shares. No controller rolls out the Rollouts.
var mixture = []v1alpha1.WorkloadKind{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout"}

// mix starts the operator with all kinds of the mixture enabled, on a fleet that no VectorSidecar selects. Then it
// measures the operator at rest with VectorSidecars that select some of the fleet.
func (s sizes) mix(ctx context.Context, b *bench) error {
	if err := b.cluster.ServeRollouts(); err != nil {
		return err
	}
	before := b.program.arguments
	defer func() { b.program.arguments = before }()
	var kinds []string
	for _, kind := range mixture {
		kinds = append(kinds, string(kind))
	}
	b.program.arguments = slices.Concat(before, []string{"--workload-kinds=" + strings.Join(kinds, ",")})
	empty, err := b.settle(ctx)
	if err != nil {
		return err
	}
	var namespaces []string
	for range spread {
		namespace, err := b.cluster.namespace(ctx, "mixed")
		if err != nil {
			return err
		}
		namespaces = append(namespaces, namespace)
	}
	err = each(ctx, s.mixed, func(ctx context.Context, n int) error {
		kind := mixture[n%len(mixture)]
		return b.cluster.Client.Create(ctx, ofKind(kind, appName(n/len(mixture)), namespaces[n/len(mixture)%spread], n/len(mixture)/spread))
	})
	if err != nil {
		return err
	}
	filled, err := b.settle(ctx)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d workloads of %d kinds", s.mixed, len(mixture))
	const goal = 100 << 20
	b.find(finding{what + ": resident memory", "≤ " + mebibytes(goal),
		fmt.Sprintf("%s, at most %s; without any %s", mebibytes(filled.resident), mebibytes(filled.mostEver), mebibytes(empty.resident)), filled.resident <= goal, 0})
	b.tell("%s: start to ready %s", what, rounded(filled.toReady))
	for n := range s.sidecars {
		name := group(n)
		sidecar := objects.NewVectorSidecar(name, namespaces[n%spread]).Selecting("group", name).For(mixture...).Build()
		if err := b.cluster.Client.Create(ctx, sidecar); err != nil {
			return err
		}
	}
	return s.idleAmong(ctx, b, what)
}

// group returns the label of the workloads of a VectorSidecar.
func group(n int) string { return fmt.Sprintf("logs-%d", n) }

// ofKind returns a workload of a kind with the pod template of the benchmark's Deployments.
func ofKind(kind v1alpha1.WorkloadKind, name, namespace string, n int) client.Object {
	from := application(name, namespace)
	object := harness.NewWorkload(string(kind), name, namespace, from.Labels)
	harness.ChangeTemplate(object, func(template *corev1.PodTemplateSpec) {
		labels := template.Labels
		*template = from.Spec.Template
		template.Labels = labels
	})
	if job, isCronJob := object.(*batchv1.CronJob); isCronJob {
		job.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	marks := object.GetLabels()
	marks["group"], marks["helm.sh/chart"] = group(n%100), fmt.Sprintf("service-1.%d.0", n/100%10)
	object.SetLabels(marks)
	object.SetAnnotations(from.Annotations)
	return object
}

// idleAmong makes the operator inject the selected workloads, and measures it while it has nothing to do.
func (s sizes) idleAmong(ctx context.Context, b *bench, what string) (err error) {
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.stop()) }()
	return s.idles(ctx, b, operator, what)
}
