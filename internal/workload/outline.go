// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"iter"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Outline is a Deployment with nothing in it that a View does not show, and without what
// the View has from elsewhere: its name, labels, state and managed fields. ViewOf takes it
// in place of the whole one.
func Outline(deployment *appsv1.Deployment, owned map[string]Owned) *appsv1.Deployment {
	template := &deployment.Spec.Template
	spec := &template.Spec
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Annotations: visibleAnnotations(deployment.Annotations)},
		Spec: appsv1.DeploymentSpec{
			Paused:   deployment.Spec.Paused,
			Selector: &metav1.LabelSelector{MatchLabels: keysOnly(slices.Values(selectorKeys(deployment.Spec.Selector)))},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: keysOnly(maps.Keys(template.Labels)), Annotations: keysOnly(maps.Keys(template.Annotations))},
				Spec: corev1.PodSpec{
					HostNetwork:                   spec.HostNetwork,
					HostPID:                       spec.HostPID,
					HostIPC:                       spec.HostIPC,
					HostUsers:                     spec.HostUsers,
					OS:                            spec.OS,
					SecurityContext:               spec.SecurityContext,
					TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds,
					InitContainers:                outlines(spec.InitContainers),
					Containers:                    outlines(spec.Containers),
					Volumes:                       kindsOnly(spec.Volumes),
					ImagePullSecrets:              secretNames(secretsOf(spec, owned)),
				},
			},
		},
	}
}

// visibleAnnotations are those of others, and those by which a workload speaks to
// the operator.
func visibleAnnotations(annotations map[string]string) map[string]string {
	kept := foreign(annotations)
	for key, value := range annotations {
		if key == meta.AnnotationInject || strings.HasPrefix(key, meta.AnnotationValuesPrefix) {
			kept[key] = value
		}
	}
	return kept
}

// keysOnly is a map without values, which may be long.
func keysOnly(keys iter.Seq[string]) map[string]string {
	kept := map[string]string{}
	for key := range keys {
		kept[key] = ""
	}
	return kept
}

func outlines(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		kept[i] = corev1.Container{
			Name: c.Name, Ports: c.Ports, VolumeMounts: c.VolumeMounts, Env: pathVariables(c), SecurityContext: c.SecurityContext,
		}
	}
	return kept
}

func kindsOnly(volumes []corev1.Volume) []corev1.Volume {
	kept := make([]corev1.Volume, len(volumes))
	for i := range volumes {
		kept[i] = kindOnly(&volumes[i])
	}
	return kept
}

// secretNames names Secrets in the one list of a pod that can name all of them.
func secretNames(secrets []string) []corev1.LocalObjectReference {
	kept := make([]corev1.LocalObjectReference, len(secrets))
	for i, secret := range secrets {
		kept[i].Name = secret
	}
	return kept
}
