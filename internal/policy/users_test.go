// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestParseUserRange_ReadsOpenShiftAnnotation(t *testing.T) {
	for text, want := range map[string]UserRange{
		"1000650000/10000":                {1000650000, 1000659999},
		"1000650000-1000659999":           {1000650000, 1000659999},
		"7/1":                             {7, 7},
		"":                                {},
		"1000650000":                      {},
		"1000650000/0":                    {},
		"1000659999-1000650000":           {},
		"-1/10":                           {},
		"many/10":                         {},
		"1000650000/99999999999999999999": {},
	} {
		require.Equal(t, want, ParseUserRange(text), text)
	}
}

// A user outside of the range is rejected, unless the application itself runs as a user outside of it.
func TestUserRange_RejectsUserOutside(t *testing.T) {
	as := func(user int64) *corev1.SecurityContext { return &corev1.SecurityContext{RunAsUser: &user} }
	sidecar := func(context *corev1.SecurityContext) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "vector", SecurityContext: context}}}}
	}
	bounded := UserRange{10, 19}
	for name, test := range map[string]struct {
		users       UserRange
		application corev1.PodSpec
		overlay     *corev1.PodTemplateSpec
		isRefused   bool
	}{
		"a user in it":               {users: bounded, overlay: sidecar(as(19))},
		"one above":                  {users: bounded, overlay: sidecar(as(20)), isRefused: true},
		"one below":                  {users: bounded, overlay: sidecar(as(9)), isRefused: true},
		"none, which is assigned":    {users: bounded, overlay: sidecar(nil)},
		"no range":                   {overlay: sidecar(as(20))},
		"a container beside":         {users: bounded, overlay: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "gate", SecurityContext: as(20)}}}}, isRefused: true},
		"an application in it":       {users: bounded, application: corev1.PodSpec{Containers: []corev1.Container{{SecurityContext: as(10)}}}, overlay: sidecar(as(20)), isRefused: true},
		"an application outside too": {users: bounded, application: corev1.PodSpec{Containers: []corev1.Container{{SecurityContext: as(30)}}}, overlay: sidecar(as(20))},
		"a pod outside too": {users: bounded, application: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: as(30).RunAsUser}, Containers: []corev1.Container{{}},
		}, overlay: sidecar(as(20))},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.users.Admit(&test.application, test.overlay)
			require.Equal(t, test.isRefused, err != nil, err)
			if test.isRefused {
				require.ErrorContains(t, err, UserRangeAnnotation)
				require.ErrorContains(t, err, "10 to 19")
			}
		})
	}
}
