// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// As in Kubernetes, $(NAME) refers to a variable, and $$ escapes a reference.
func TestVariableNames_FollowsKubernetesExpansion(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"logs":                 nil,
		"$(POD)":               {"POD"},
		"a/$(A)/$(B)-c":        {"A", "B"},
		"$$(ESCAPED)/$(A)":     {"A"},
		"$$$(A)":               {"A"},
		"$A/${A}/$(unclosed":   nil,
		"ends with a dollar $": nil,
	} {
		require.Equal(t, want, variableNames(text), text)
	}
}

func pathEnv() []corev1.EnvVar {
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}
	secret := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}
	return []corev1.EnvVar{
		{Name: "REGION", Value: ""}, {Name: "UNUSED", Value: "x"}, {Name: "POD", ValueFrom: field}, {Name: "SECRET", ValueFrom: secret},
		{Name: "TENANT", Value: "$(REGION)-$(POD)"},
	}
}

// Only variables that the path expression of a mount needs, directly or indirectly, are kept.
func TestPathVariables_KeepOnlyRequiredVariables(t *testing.T) {
	mount := func(expression string) *corev1.Container {
		return &corev1.Container{Name: "app", Env: pathEnv(), VolumeMounts: []corev1.VolumeMount{{Name: "logs", MountPath: "/logs", SubPathExpr: expression}}}
	}
	field := map[string]any{"fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.name"}}
	texts := map[string]string{}
	for expression, want := range map[string][]any{
		"":         {},
		"$(POD)":   {map[string]any{"name": "POD", "valueFrom": field}},
		"$(NO)":    {map[string]any{"name": "NO"}},
		"$(POD)/x": {map[string]any{"name": "POD", "valueFrom": field}},
		"$(SECRET)": {map[string]any{"name": "SECRET", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": "s", "key": "k"},
		}}},
		"$(TENANT)": {
			map[string]any{"name": "REGION", "value": ""}, map[string]any{"name": "POD", "valueFrom": field},
			map[string]any{"name": "TENANT", "value": "$(REGION)-$(POD)"},
		},
	} {
		view := View{PodView: PodView{Containers: viewContainers(&corev1.PodSpec{Containers: []corev1.Container{*mount(expression)}}, nil)}}
		shown := view.Values()["containers"].([]any)[0].(map[string]any)["volumeMounts"].([]any)[0].(map[string]any)
		require.Equal(t, want, shown["env"], expression)
		require.Equal(t, expression, shown["subPathExpr"])
		text := string(view.appendValues(nil, []string{"containers"}))
		require.NotContains(t, texts, text, "%s looks like %s", expression, texts[text])
		texts[text] = expression
	}
	other := View{PodView: PodView{Containers: viewContainers(&corev1.PodSpec{Containers: []corev1.Container{*mount("$(TENANT)")}}, nil)}}
	other.Containers[0].Env[0].Value = "north"
	require.NotContains(t, texts, string(other.appendValues(nil, []string{"containers"})), "another value")
}
