// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// valueKeys returns the top-level keys of the map that Values returns.
func valueKeys() []string {
	return []string{"kind", "name", "namespace", "labels", "annotations", "containers", "qosClass", "users", "accountPullSecrets"}
}

// appendValues appends a text of the values with the given keys in Values. Views with different values get different
// texts.
func (v *View) appendValues(text []byte, keys []string) []byte {
	for _, key := range keys {
		text = appendStrings(text, key)
		switch key {
		case "kind":
			text = appendStrings(text, v.Kind)
		case "name":
			text = appendStrings(text, v.Name)
		case "namespace":
			text = appendStrings(text, v.Namespace)
		case "labels":
			text = appendMap(text, v.Labels)
		case "annotations":
			text = appendMap(text, v.Annotations)
		case "containers":
			text = v.appendContainers(text, "")
		case "qosClass":
			text = appendStrings(text, string(v.QoSClass))
		case "users":
			text = v.appendUsers(text, "")
		case "accountPullSecrets":
			text = appendStrings(text, v.AccountPullSecrets()...)
		}
	}
	return text
}

// GraceKey is a key for ValuesHash that stands for terminationGracePeriodSeconds of the pods. Values does not have this
// key, because templates cannot read it.
const GraceKey = "terminationGracePeriodSeconds"

// PullSecretsKey is a key for ValuesHash that stands for the application's own pull secrets in the pod template, which
// the operator does not add again. Values does not have this key.
const PullSecretsKey = pullSecrets

// ValuesHash returns a digest of the values with the given keys in Values. Workloads that differ only in their name
// have the same digest. Later releases must compute the same digest, because workloads store it: data that a release
// adds to appendValues must be appended only if the workload has it.
func (v *View) ValuesHash(keys []string) string {
	var space [1024]byte // This is usually enough and avoids an allocation.
	text := space[:0]
	for _, key := range keys {
		switch key {
		case "containers":
			text = v.appendContainers(appendStrings(text, key), v.Name)
		case "users":
			text = v.appendUsers(appendStrings(text, key), v.Name)
		case GraceKey:
			text = binary.AppendVarint(appendStrings(text, key), ptr.Deref(v.GraceSeconds, corev1.DefaultTerminationGracePeriodSeconds))
		case PullSecretsKey:
			text = appendStrings(appendStrings(text, key), v.applicationPullSecrets()...)
		default:
			text = v.appendValues(text, []string{key})
		}
	}
	return meta.Digest(text, 8)
}

// ownName replaces the name of a container if it is the workload's name, so that workloads with such a container have
// equal texts.
const ownName = "\x00"

// appendContainers appends a text of the application's containers. name is the name of the workload, and maskName
// replaces it.
func (v *View) appendContainers(text []byte, name string) []byte {
	for c := range v.applicationContainers() {
		text = appendStrings(append(text, 'c'), maskName(c.Name, name))
		for _, port := range c.Ports {
			text = appendStrings(append(text, 'p'), port.Name, string(port.Protocol))
			text = binary.AppendVarint(text, int64(port.ContainerPort))
		}
		for _, mount := range c.Mounts {
			if len(v.Owned) > 0 && v.isOperatorVolume(mount.Name) {
				continue
			}
			text = appendStrings(append(text, 'm'), mount.Name, mount.MountPath, mount.SubPath)
			if mount.SubPathExpr != "" {
				text = appendStrings(append(text, 'e'), mount.SubPathExpr, jsonText(variableValues(c.Env, mount.SubPathExpr)))
			}
		}
	}
	return text
}

// maskName returns ownName for a text that is equal to the workload's name, and all other texts unchanged.
func maskName(text, name string) string {
	if text == name {
		return ownName
	}
	return text
}
