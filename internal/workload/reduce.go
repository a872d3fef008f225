// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Reducer makes Records. What several of them have in common, such as what one
// VectorSidecar has merged into many workloads, is held once. It may be used by
// several goroutines at once. Make one with NewReducer.
type Reducer struct {
	// Before returns an earlier record of a workload, if there is one: what has not
	// changed since is that one's. It may be nil.
	Before func(namespace, name string) *Record

	nothing    *ownership
	reaches    *shared[fingerprint, reach]
	extracted  *shared[fingerprint, ownership] // by what they are extracted from
	ownerships *shared[fingerprint, ownership] // by what they are
	bodies     *shared[fingerprint, body]      // by what they are
	prints     *printer
}

// NewReducer returns a Reducer.
func NewReducer() *Reducer {
	return &Reducer{
		nothing: &ownership{}, reaches: newShared[fingerprint, reach](), extracted: newShared[fingerprint, ownership](),
		ownerships: newShared[fingerprint, ownership](), bodies: newShared[fingerprint, body](), prints: newPrinter(),
	}
}

// Reduce returns the record of a Deployment, which is not changed.
func (r *Reducer) Reduce(deployment *appsv1.Deployment) *Record {
	record := &Record{
		Namespace: one(deployment.Namespace),
		Name:      deployment.Name,
		UID:       deployment.UID,
		State:     stateOf(deployment),
		deleting:  deployment.DeletionTimestamp != nil,
		print:     r.prints.of(deployment),
	}
	if r.Before != nil {
		if before := r.Before(record.Namespace, record.Name); before != nil && before.print == record.print {
			record.body, record.overrides = before.body, before.overrides
			return record
		}
	}
	record.body, record.overrides = r.bodyOf(deployment), len(overrides(deployment.Annotations)) > 0
	return record
}

func (r *Reducer) bodyOf(deployment *appsv1.Deployment) *body {
	owned := r.ownershipIn(deployment)
	packed, err := visible(deployment, owned.byManager).Marshal()
	if err != nil {
		packed = nil // Every value of the type marshals.
	}
	fresh := body{
		labels: labelsOf(deployment.Name, deployment.Labels), lastWriter: one(lastWriter(deployment.ManagedFields)),
		owned: owned, packed: packed,
	}
	return r.bodies.of(r.prints.ofBody(&fresh), func() *body { return &fresh })
}

// visible is the rest of what a View shows, as a Deployment without its name.
func visible(deployment *appsv1.Deployment, owned map[string]Owned) *appsv1.Deployment {
	name, template := deployment.Name, &deployment.Spec.Template
	spec := &template.Spec
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Annotations: visibleAnnotations(name, deployment.Annotations)},
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
					InitContainers:                reduceContainers(name, spec.InitContainers),
					Containers:                    reduceContainers(name, spec.Containers),
					Volumes:                       reduceVolumes(spec.Volumes),
					ImagePullSecrets:              reduceSecrets(name, secretsOf(spec, owned)),
				},
			},
		},
	}
}

// visibleAnnotations are those of others, and those by which a workload speaks to
// the operator.
func visibleAnnotations(name string, annotations map[string]string) map[string]string {
	kept := foreign(annotations)
	for key, value := range annotations {
		if key == meta.AnnotationInject || strings.HasPrefix(key, meta.AnnotationValuesPrefix) {
			kept[key] = value
		}
	}
	for key, value := range kept {
		kept[key] = withoutName(value, name)
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

func reduceContainers(name string, containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		kept[i] = corev1.Container{
			Name: withoutName(c.Name, name), Ports: c.Ports, VolumeMounts: c.VolumeMounts, Env: pathVariables(c), SecurityContext: c.SecurityContext,
		}
	}
	return kept
}

func reduceVolumes(volumes []corev1.Volume) []corev1.Volume {
	kept := make([]corev1.Volume, len(volumes))
	for i := range volumes {
		kept[i] = kindOnly(&volumes[i])
	}
	return kept
}

// reduceSecrets names Secrets in the one list of a pod that can name all of them.
func reduceSecrets(name string, secrets []string) []corev1.LocalObjectReference {
	kept := make([]corev1.LocalObjectReference, len(secrets))
	for i, secret := range secrets {
		kept[i].Name = withoutName(secret, name)
	}
	return kept
}

// one returns the one copy of a text that many workloads have.
func one(text string) string { return unique.Make(text).Value() }
