// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestDescribeInjectedEnv_ListsVariablesOfContainer(t *testing.T) {
	tells := []workload.EnvInjection{{Containers: []string{"*"}, Name: "A", Value: "{name}"}, {Containers: []string{"app"}, Name: "B", Value: "b"}}
	in := workload.Ref{Kind: "Deployment", Name: "cart"}
	told := []workload.InjectedEnv{{Container: "app", Name: "A", Value: "cart"}, {Container: "app", Name: "B", Value: "b"}}
	for name, test := range map[string]struct {
		container corev1.Container
		known     []workload.InjectedEnv
		want      string
	}{
		"all":               {corev1.Container{Name: "app"}, told, "A, B"},
		"one":               {corev1.Container{Name: "app"}, told[:1], "A, not B, until the application owner's next change of the pod template"},
		"one of its own":    {corev1.Container{Name: "app", Env: []corev1.EnvVar{{Name: "B"}}}, told[:1], "A, not B, because the container already sets the variable"},
		"others":            {corev1.Container{Name: "app", EnvFrom: []corev1.EnvFromSource{{}}}, nil, "not A, because envFrom of the container may set the variable; not B, because envFrom of the container may set the variable"},
		"others, by prefix": {corev1.Container{Name: "app", EnvFrom: []corev1.EnvFromSource{{Prefix: "X_"}}}, told, "A, B"},
		"another container": {corev1.Container{Name: "web"}, told, "not A, until the application owner's next change of the pod template"},
	} {
		require.Equal(t, test.want, describeContainerEnv(&test.container, tells, test.known, in), name)
	}
}
