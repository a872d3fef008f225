// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// declaring returns a cluster with an installation that declares VectorSidecars. Object logs is applied, object gitops belongs
// to another client, and namespace later does not exist.
func declaring(annotations map[string]string) *cluster {
	const items = `items:
  shop/logs: {selector: {matchLabels: {logs: vector}}}
  shop/gitops: {selector: {matchLabels: {logs: vector}}}
  shop/empty: {selector: {}}
  shop/new: {selector: {matchLabels: {logs: vector}}}
  later/logs: {selector: {matchLabels: {logs: vector}}}
`
	operator := objects.NewDeployment("vso", "vector-system").Labeled("app.kubernetes.io/component", "operator").Pod(func(pod *corev1.PodSpec) {
		pod.Containers[0].Args = []string{"--environment=development", "--environments-configmap=values", "--leader-election-id=vso"}
	}).Build()
	values := objects.NewConfigMap("values", "vector-system", declared.Key, items)
	values.Annotations = annotations
	applied := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	applied.Spec = v1alpha1.VectorSidecarSpec{Selector: applied.Spec.Selector}
	applied.Labels = map[string]string{meta.LabelDeclaredBy: "vector-system_vso"}
	gitops := objects.NewVectorSidecar("gitops", "shop").Selecting("logs", "gitops").Build()
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	return &cluster{objects: []client.Object{operator, values, applied, gitops, shop}}
}

// For each VectorSidecar that the values declare, get shows whether it is applied, and a note explains any other state.
func TestReadDeclared_ReportsStateOfEachObject(t *testing.T) {
	out, notes, code := declaring(nil).runOutside(t, "get", "-A")
	require.Zero(t, code, notes)
	require.Regexp(t, `(?m)^NAMESPACE .* VALUES$`, out)
	require.Regexp(t, `(?m)^shop +logs .* Applied$`, out)
	require.Regexp(t, `(?m)^shop +gitops .* Conflict$`, out)
	for _, note := range []string{
		"VectorSidecar shop/gitops, declared in the installation's values, is Conflict: the existing object does not have the label",
		"VectorSidecar shop/empty, declared in the installation's values, is Invalid: the API server would reject the object: ",
		"VectorSidecar shop/new, declared in the installation's values, is Pending: the object does not exist",
		"VectorSidecar later/logs, declared in the installation's values, is WaitingForNamespace: namespace later does not exist",
	} {
		require.Contains(t, notes, note)
	}
}

// For proposed values, plan lists the VectorSidecars that the operator would create and delete.
func TestPlanDeclared_ListsCreatesAndDeletes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(file, []byte("vectorSidecars: {enabled: true, items: {shop/new: {selector: {matchLabels: {logs: vector}}}}}"), 0o600))

	out, notes, code := declaring(nil).run(t, "plan", "-A", "--values", file, "--kube-version", "v1.36.0")

	require.Zero(t, code, notes)
	require.Contains(t, out, "Create VectorSidecar shop/new: the object does not exist\n")
	require.Contains(t, out, "Delete VectorSidecar shop/logs: the values no longer declare the object\n")
	require.NotContains(t, out, "gitops: ")
}
