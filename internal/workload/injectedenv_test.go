// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// informed is a Deployment whose pod template says what its application was told.
func informed(record string, env ...corev1.EnvVar) *appsv1.Deployment {
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: "shop"}}
	made.Spec.Template.Annotations = map[string]string{meta.AnnotationInjectedEnv(meta.Manager("logs")): record}
	made.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Env: env}}
	return made
}

// A variable counts as injected only if the container has it once, with the recorded value.
func TestInjectedEnvFor_ReturnsOnlyUnchangedVariables(t *testing.T) {
	is := corev1.EnvVar{Name: "ADDRESS", Value: "cart:1"}
	for name, test := range map[string]struct {
		record string
		env    []corev1.EnvVar
		want   []InjectedEnv
	}{
		"as it was told":           {"app ADDRESS=cart:1", []corev1.EnvVar{{Name: "A"}, is}, []InjectedEnv{{"app", "ADDRESS", "cart:1"}}},
		"with an equals sign":      {"app ADDRESS=a=b", []corev1.EnvVar{{Name: "ADDRESS", Value: "a=b"}}, []InjectedEnv{{"app", "ADDRESS", "a=b"}}},
		"another value":            {"app ADDRESS=cart:1", []corev1.EnvVar{{Name: "ADDRESS", Value: "own"}}, nil},
		"another source":           {"app ADDRESS=", []corev1.EnvVar{{Name: "ADDRESS", ValueFrom: &corev1.EnvVarSource{}}}, nil},
		"gone":                     {"app ADDRESS=cart:1", nil, nil},
		"twice":                    {"app ADDRESS=cart:1", []corev1.EnvVar{is, is}, nil},
		"of a container that went": {"web ADDRESS=cart:1", []corev1.EnvVar{is}, nil},
		"no record":                {"x\n=\napp\napp =v\napp ADDRESS=\x00", []corev1.EnvVar{is}, nil},
	} {
		view := NewView(informed(test.record, test.env...))
		told, isRecorded := view.InjectedEnvFor(meta.Manager("logs"))
		require.True(t, isRecorded, name)
		require.ElementsMatch(t, test.want, told, name)
		_, isRecorded = view.InjectedEnvFor(meta.Manager("other"))
		require.False(t, isRecorded, name)
	}
}

// A variable that a deployment tool sets belongs to that tool, also with the injected value. A variable that a user's
// rollback restored still counts as injected.
func TestInjectedEnvFor_ExcludesVariablesOfDeploymentTool(t *testing.T) {
	for manager, isTold := range map[string]bool{"helm": false, "kubectl-rollout": true} {
		deployment := informed("app ADDRESS=cart:1", corev1.EnvVar{Name: "ADDRESS", Value: "cart:1"})
		deployment.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(
				`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:env":{"k:{\"name\":\"ADDRESS\"}":{".":{},"f:value":{}}}}}}}}}`),
		}}
		view := NewView(deployment)
		told, _ := view.InjectedEnvFor(meta.Manager("logs"))
		require.Equal(t, isTold, len(told) == 1, manager)
	}
}

// The value of a variable may name the kind, namespace and name of the workload in braces.
func TestValueFor_ExpandsWorkloadFields(t *testing.T) {
	tell := EnvInjection{Containers: []string{AllContainers}, Name: "A", Value: "{kind} {namespace}/{name}"}
	require.Equal(t, "deployment shop/cart", tell.ValueFor(Ref{Kind: "Deployment", Namespace: "shop", Name: "cart"}))
}

// The admission policies of the chart use the same limits.
func TestExceedsRecordLimit_EqualsLimitInChart(t *testing.T) {
	tells := []EnvInjection{{Name: "A", Value: "{name}"}, {Name: "B", Value: strings.Repeat("b", 91)}}
	in := Ref{Kind: "Deployment", Namespace: "shop", Name: "cart"}
	const each = 1 + 4 + 70 + 1 + 91 + 70
	require.False(t, ExceedsRecordLimit(tells, in, (32768-1)/each))
	require.True(t, ExceedsRecordLimit(tells, in, (32768-1)/each+1))
	policies, err := os.ReadFile("../../chart/templates/admissioninjection.yaml")
	require.NoError(t, err)
	require.Contains(t, string(policies), fmt.Sprintf("size(t.name) + size(t.value) + %d) + [0]).sum() * size(variables.containers) < %d", envRecordOverhead, maxEnvRecordBytes))
}
