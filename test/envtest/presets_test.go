// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
	"kontroloop.ai/vector-sidecar-operator/test/presets"
)

// The API server accepts each sample VectorSidecar (preset), its workload and its pod, which is created because Pod
// Security checks only pods.
func TestVectorSidecar_AcceptsEveryPreset(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t, "pod-security.kubernetes.io/enforce", "restricted")
	unrestricted := objects.NewDeployment("app", namespace).Build().Spec.Template
	refused := world.Client.Create(t.Context(), podOf("app", namespace, &unrestricted), client.DryRunAll)
	require.True(t, apierrors.IsForbidden(refused), "else the namespace says nothing of a pod: %v", refused)

	for _, c := range presets.All(t) {
		t.Run(c.Name(), func(t *testing.T) {
			result := c.Render(t)
			pod := podOf(result.Deployment.Name, namespace, &result.Deployment.Spec.Template)
			for _, object := range []client.Object{&result.ConfigMap, &result.Deployment, pod} {
				object.SetNamespace(namespace)
				require.NoError(t, world.Client.Create(t.Context(), object, client.DryRunAll))
			}
		})
	}
}

func podOf(name, namespace string, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Name, pod.Namespace = name, namespace
	return pod
}
