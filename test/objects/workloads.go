// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WorkloadKinds are the kinds that NewWorkload makes.
var WorkloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job"}

// NewWorkload returns a workload of a kind with labels and one container, "app", that is
// like the Deployment of NewDeployment otherwise. A CronJob is due once a year.
func NewWorkload(kind, name, namespace string, labels map[string]string) client.Object {
	template := NewDeployment(name, namespace).object.Spec.Template
	selector := &metav1.LabelSelector{MatchLabels: template.Labels}
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels}
	switch kind {
	case "StatefulSet":
		return &appsv1.StatefulSet{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: kind}, ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template, ServiceName: name},
		}
	case "DaemonSet":
		return &appsv1.DaemonSet{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: kind}, ObjectMeta: meta,
			Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template},
		}
	case "CronJob":
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
		return &batchv1.CronJob{
			TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: kind}, ObjectMeta: meta,
			Spec: batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}}},
		}
	case "Job":
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
		return &batchv1.Job{
			TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: kind}, ObjectMeta: meta,
			Spec: batchv1.JobSpec{Template: template},
		}
	}
	deployment := NewDeployment(name, namespace).Build()
	deployment.Labels = labels
	return deployment
}
