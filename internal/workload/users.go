// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
)

// RunsAs returns the user ID and the group ID of a container's security context, or else of the pod's security
// context. An ID is nil if neither sets it.
func RunsAs(pod *corev1.PodSpec, c *corev1.Container) (user, group *int64) {
	if securityContext := pod.SecurityContext; securityContext != nil {
		user, group = securityContext.RunAsUser, securityContext.RunAsGroup
	}
	if securityContext := c.SecurityContext; securityContext != nil && securityContext.RunAsUser != nil {
		user = securityContext.RunAsUser
	}
	if securityContext := c.SecurityContext; securityContext != nil && securityContext.RunAsGroup != nil {
		group = securityContext.RunAsGroup
	}
	return user, group
}

// userValues returns the user and group IDs of the application's containers for templates, by container name.
func (v *View) userValues() map[string]any {
	users := map[string]any{}
	for i := range v.Application.Containers {
		c := &v.Application.Containers[i]
		user, group := RunsAs(&v.Application, c)
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

// appendUsers appends a text that differs if userValues differs. For a container with the name in the argument,
// the text contains ownName.
func (v *View) appendUsers(text []byte, name string) []byte {
	for i := range v.Application.Containers {
		c := &v.Application.Containers[i]
		user, group := RunsAs(&v.Application, c)
		if user == nil && group == nil {
			continue
		}
		text = AppendTexts(append(text, 'c'), maskName(c.Name, name))
		if user != nil {
			text = binary.AppendVarint(append(text, 'u'), *user)
		}
		if group != nil {
			text = binary.AppendVarint(append(text, 'g'), *group)
		}
	}
	return text
}
