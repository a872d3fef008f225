// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// pathVariables returns the environment variables of a container that the subPathExpr of its mounts use. A sidecar
// needs these variables to mount the same directories.
func pathVariables(c *corev1.Container) []corev1.EnvVar {
	var names []string
	for i := range c.VolumeMounts {
		names = append(names, variableNames(c.VolumeMounts[i].SubPathExpr)...)
	}
	needed, _ := variablesNamed(c.Env, names)
	return needed
}

// variablesNamed returns the variables with the given names, and the variables that their values refer to, in the order
// of the container. missing are the names without a variable.
func variablesNamed(env []corev1.EnvVar, names []string) (variables []corev1.EnvVar, missing []string) {
	if len(names) == 0 {
		return nil, nil
	}
	// A value can refer only to variables before it.
	for i := len(env) - 1; i >= 0; i-- {
		isFound := slices.ContainsFunc(variables, func(v corev1.EnvVar) bool { return v.Name == env[i].Name })
		if !isFound && slices.Contains(names, env[i].Name) {
			variables = append(variables, env[i])
			names = append(names, variableNames(env[i].Value)...)
		}
	}
	slices.Reverse(variables)
	for _, name := range names {
		isFound := slices.ContainsFunc(variables, func(v corev1.EnvVar) bool { return v.Name == name })
		if !isFound && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return variables, missing
}

// variableValues returns the variables in an expression as template values, in the form of a pod's env. Literal
// variables always have a value. A variable that the container does not set has neither value nor valueFrom.
func variableValues(env []corev1.EnvVar, expression string) []any {
	variables, missing := variablesNamed(env, variableNames(expression))
	shown := []any{}
	for i := range variables {
		// Every value of the type converts.
		variable, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(&variables[i])
		if variables[i].ValueFrom == nil {
			variable["value"] = variables[i].Value
		}
		shown = append(shown, variable)
	}
	for _, name := range missing {
		shown = append(shown, map[string]any{"name": name})
	}
	return shown
}

// variableNames returns the names of the variables that a text refers to. As in Kubernetes, $(NAME) is a
// variable, and $$ is a dollar sign.
func variableNames(text string) []string {
	var names []string
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			return names
		}
		sign := text[i+1]
		text = text[i+2:]
		if sign != '(' {
			continue
		}
		name, remainder, isClosed := strings.Cut(text, ")")
		if !isClosed {
			return names
		}
		names, text = append(names, name), remainder
	}
}
