// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
)

// RunsAs returns the user and the group that a container of a pod runs as, or nil if neither the container nor
// the pod names one.
func RunsAs(pod *corev1.PodSpec, c *corev1.Container) (user, group *int64) {
	if of := pod.SecurityContext; of != nil {
		user, group = of.RunAsUser, of.RunAsGroup
	}
	if of := c.SecurityContext; of != nil && of.RunAsUser != nil {
		user = of.RunAsUser
	}
	if of := c.SecurityContext; of != nil && of.RunAsGroup != nil {
		group = of.RunAsGroup
	}
	return user, group
}

// userValues returns the users and groups that templates can read, by container.
func (v *View) userValues() map[string]any {
	users := map[string]any{}
	for i := range v.Application.Containers {
		c := &v.Application.Containers[i]
		user, group := RunsAs(&v.Application, c)
		of := map[string]any{}
		if user != nil {
			of["runAsUser"] = float64(*user)
		}
		if group != nil {
			of["runAsGroup"] = float64(*group)
		}
		if len(of) > 0 {
			users[c.Name] = of
		}
	}
	return users
}

// appendUsers appends a text that differs if userValues differs. It writes ownName for a container with the
// given name.
func (v *View) appendUsers(text []byte, name string) []byte {
	for i := range v.Application.Containers {
		c := &v.Application.Containers[i]
		user, group := RunsAs(&v.Application, c)
		if user == nil && group == nil {
			continue
		}
		text = AppendTexts(append(text, 'c'), without(c.Name, name))
		if user != nil {
			text = binary.AppendVarint(append(text, 'u'), *user)
		}
		if group != nil {
			text = binary.AppendVarint(append(text, 'g'), *group)
		}
	}
	return text
}
