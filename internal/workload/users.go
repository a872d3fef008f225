// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// RunsAs returns the user ID and the group ID with which a container runs, from its own security context, or else from
// the pod's. An ID is nil if neither sets it.
func RunsAs(pod *corev1.PodSecurityContext, container *corev1.SecurityContext) (user, group *int64) {
	if pod != nil {
		user, group = pod.RunAsUser, pod.RunAsGroup
	}
	if container != nil && container.RunAsUser != nil {
		user = container.RunAsUser
	}
	if container != nil && container.RunAsGroup != nil {
		group = container.RunAsGroup
	}
	return user, group
}

// applicationContainers yields the containers of the application that are not init containers.
func (v *View) applicationContainers() iter.Seq[*Container] {
	return func(yield func(*Container) bool) {
		for i := range v.Containers {
			if c := &v.Containers[i]; !c.Init && (len(v.Owned) == 0 || v.ContainerOwner(c.Name) == "") && !yield(c) {
				return
			}
		}
	}
}

// userValues returns the user and group IDs of the application's containers for templates, by container name.
func (v *View) userValues() map[string]any {
	users := map[string]any{}
	for c := range v.applicationContainers() {
		user, group := RunsAs(v.SecurityContext, c.SecurityContext)
		ids := map[string]any{}
		if user != nil {
			ids["runAsUser"] = float64(*user)
		}
		if group != nil {
			ids["runAsGroup"] = float64(*group)
		}
		if len(ids) > 0 {
			users[c.Name] = ids
		}
	}
	return users
}

// appendUsers appends a text of userValues, in which ownName replaces the name of the workload.
func (v *View) appendUsers(text []byte, name string) []byte {
	for c := range v.applicationContainers() {
		user, group := RunsAs(v.SecurityContext, c.SecurityContext)
		if user == nil && group == nil {
			continue
		}
		text = appendStrings(append(text, 'c'), maskName(c.Name, name))
		if user != nil {
			text = binary.AppendVarint(append(text, 'u'), *user)
		}
		if group != nil {
			text = binary.AppendVarint(append(text, 'g'), *group)
		}
	}
	return text
}
