// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// SecretUse is a reference to a Secret in a pod.
type SecretUse struct {
	// Secret is the name of the Secret.
	Secret string
	// Optional reports whether the pod starts without the Secret.
	Optional bool

	list  string
	index int
	field string
}

// At returns the path of the reference in the pod's spec.
func (u *SecretUse) At() string { return fmt.Sprintf("%s[%d].%s", u.list, u.index, u.field) }

// EachSecret visits every reference of a pod to a Secret in its namespace.
func EachSecret(spec *corev1.PodSpec, visit func(use SecretUse)) { eachSecret(spec, nil, visit) }

// eachSecret visits references, but skips fields of the operator's managers.
func eachSecret(spec *corev1.PodSpec, ours map[string]Owned, visit func(use SecretUse)) {
	for i := range spec.ImagePullSecrets {
		if name := spec.ImagePullSecrets[i].Name; !anyOwns(ours, pullSecretsOf, name) {
			visit(SecretUse{name, true, pullSecrets, i, "name"})
		}
	}
	for i := range spec.Volumes {
		if volume := &spec.Volumes[i]; !anyOwns(ours, volumesOf, volume.Name) {
			secretsOfVolume(&volume.VolumeSource, func(field, secret string, optional *bool) {
				visit(SecretUse{secret, ptr.Deref(optional, false), "volumes", i, field})
			})
		}
	}
	for _, of := range []struct {
		list       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range of.containers {
			if c := &of.containers[i]; !anyOwns(ours, containersOf, c.Name) {
				secretsOfContainer(c, func(field, secret string, optional *bool) {
					visit(SecretUse{secret, ptr.Deref(optional, false), of.list, i, field})
				})
			}
		}
	}
}

func secretsOfContainer(of *corev1.Container, visit func(field, secret string, optional *bool)) {
	for i := range of.EnvFrom {
		if source := of.EnvFrom[i].SecretRef; source != nil {
			visit(fmt.Sprintf("envFrom[%d].secretRef", i), source.Name, source.Optional)
		}
	}
	for i := range of.Env {
		if source := of.Env[i].ValueFrom; source != nil && source.SecretKeyRef != nil {
			visit(fmt.Sprintf("env[%d].valueFrom.secretKeyRef", i), source.SecretKeyRef.Name, source.SecretKeyRef.Optional)
		}
	}
}

func secretsOfVolume(of *corev1.VolumeSource, visit func(field, secret string, optional *bool)) {
	if source := of.Secret; source != nil {
		visit("secret", source.SecretName, source.Optional)
	}
	if source := of.Projected; source != nil {
		for i := range source.Sources {
			if secret := source.Sources[i].Secret; secret != nil {
				visit(fmt.Sprintf("projected.sources[%d].secret", i), secret.Name, secret.Optional)
			}
		}
	}
	if source := of.AzureFile; source != nil {
		visit("azureFile.secretName", source.SecretName, nil)
	}
	if field, reference := driverSecret(of); reference != nil {
		visit(field, reference.Name, nil)
	}
}

// driverSecret returns the Secret that a volume passes to its driver, and its field, or nil for none. A volume
// has one source.
func driverSecret(of *corev1.VolumeSource) (field string, reference *corev1.LocalObjectReference) {
	switch {
	case of.CSI != nil:
		return "csi.nodePublishSecretRef", of.CSI.NodePublishSecretRef
	case of.FlexVolume != nil:
		return "flexVolume.secretRef", of.FlexVolume.SecretRef
	case of.CephFS != nil:
		return "cephfs.secretRef", of.CephFS.SecretRef
	case of.RBD != nil:
		return "rbd.secretRef", of.RBD.SecretRef
	case of.ISCSI != nil:
		return "iscsi.secretRef", of.ISCSI.SecretRef
	case of.Cinder != nil:
		return "cinder.secretRef", of.Cinder.SecretRef
	case of.ScaleIO != nil:
		return "scaleIO.secretRef", of.ScaleIO.SecretRef
	case of.StorageOS != nil:
		return "storageos.secretRef", of.StorageOS.SecretRef
	}
	return "", nil
}

// secretsOf returns the sorted names of the Secrets that a pod refers to, except in fields of the operator's
// managers.
func secretsOf(spec *corev1.PodSpec, ours map[string]Owned) []string {
	var names []string
	eachSecret(spec, ours, func(use SecretUse) {
		if use.Secret != "" {
			names = append(names, use.Secret)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
