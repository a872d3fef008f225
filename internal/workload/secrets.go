// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// SecretUse is one reference of a pod to a Secret.
type SecretUse struct {
	// Secret is the name of the Secret.
	Secret string
	// Optional reports whether the pod starts without the Secret.
	Optional bool

	list  string
	index int
	field string
}

// Path returns the path of the reference below the pod's spec.
func (u *SecretUse) Path() string { return fmt.Sprintf("%s[%d].%s", u.list, u.index, u.field) }

// EachSecret calls visit for every reference of a pod to a Secret.
func EachSecret(spec *corev1.PodSpec, visit func(use SecretUse)) { eachSecret(spec, nil, visit) }

// eachSecret calls visit for every reference of the application's part of a pod to a Secret.
func eachSecret(spec *corev1.PodSpec, owned map[string]OwnedFields, visit func(use SecretUse)) {
	for i := range spec.ImagePullSecrets {
		if name := spec.ImagePullSecrets[i].Name; !anyOwns(owned, ownedPullSecrets, name) {
			visit(SecretUse{name, true, pullSecrets, i, "name"})
		}
	}
	for i := range spec.Volumes {
		if volume := &spec.Volumes[i]; !anyOwns(owned, ownedVolumes, volume.Name) {
			visitVolumeSecrets(&volume.VolumeSource, func(field, secret string, optional *bool) {
				visit(SecretUse{secret, ptr.Deref(optional, false), "volumes", i, field})
			})
		}
	}
	for _, group := range []struct {
		list       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range group.containers {
			if c := &group.containers[i]; !anyOwns(owned, ownedContainers, c.Name) {
				visitContainerSecrets(c, func(field, secret string, optional *bool) {
					visit(SecretUse{secret, ptr.Deref(optional, false), group.list, i, field})
				})
			}
		}
	}
}

// visitContainerSecrets calls visit for every reference of a container to a Secret.
func visitContainerSecrets(c *corev1.Container, visit func(field, secret string, optional *bool)) {
	for i := range c.EnvFrom {
		if source := c.EnvFrom[i].SecretRef; source != nil {
			visit(fmt.Sprintf("envFrom[%d].secretRef", i), source.Name, source.Optional)
		}
	}
	for i := range c.Env {
		if source := c.Env[i].ValueFrom; source != nil && source.SecretKeyRef != nil {
			visit(fmt.Sprintf("env[%d].valueFrom.secretKeyRef", i), source.SecretKeyRef.Name, source.SecretKeyRef.Optional)
		}
	}
}

// visitVolumeSecrets calls visit for every reference of a volume to a Secret.
func visitVolumeSecrets(volume *corev1.VolumeSource, visit func(field, secret string, optional *bool)) {
	if source := volume.Secret; source != nil {
		visit("secret", source.SecretName, source.Optional)
	}
	if source := volume.Projected; source != nil {
		for i := range source.Sources {
			if secret := source.Sources[i].Secret; secret != nil {
				visit(fmt.Sprintf("projected.sources[%d].secret", i), secret.Name, secret.Optional)
			}
		}
	}
	if source := volume.AzureFile; source != nil {
		visit("azureFile.secretName", source.SecretName, nil)
	}
	if field, reference := driverSecret(volume); reference != nil {
		visit(field, reference.Name, nil)
	}
}

// driverSecret returns the reference to the Secret that a volume passes to its storage driver, and the field with that
// reference. The reference is nil if there is none.
func driverSecret(volume *corev1.VolumeSource) (field string, reference *corev1.LocalObjectReference) {
	switch {
	case volume.CSI != nil:
		return "csi.nodePublishSecretRef", volume.CSI.NodePublishSecretRef
	case volume.FlexVolume != nil:
		return "flexVolume.secretRef", volume.FlexVolume.SecretRef
	case volume.CephFS != nil:
		return "cephfs.secretRef", volume.CephFS.SecretRef
	case volume.RBD != nil:
		return "rbd.secretRef", volume.RBD.SecretRef
	case volume.ISCSI != nil:
		return "iscsi.secretRef", volume.ISCSI.SecretRef
	case volume.Cinder != nil:
		return "cinder.secretRef", volume.Cinder.SecretRef
	case volume.ScaleIO != nil:
		return "scaleIO.secretRef", volume.ScaleIO.SecretRef
	case volume.StorageOS != nil:
		return "storageos.secretRef", volume.StorageOS.SecretRef
	}
	return "", nil
}

// secretNames returns the sorted names of the Secrets that the application's part of a pod refers to.
func secretNames(spec *corev1.PodSpec, owned map[string]OwnedFields) []string {
	var names []string
	eachSecret(spec, owned, func(use SecretUse) {
		if use.Secret != "" {
			names = append(names, use.Secret)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
