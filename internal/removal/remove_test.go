// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// The sidecar of one field manager is removed from a workload, and not that of another one.
func TestRemove_RemovesOnlySidecarOfManager(t *testing.T) {
	for name, test := range map[string]struct {
		manager string
		want    []string
	}{
		"its own sidecar":                {meta.Manager("logs"), []string{"app"}},
		"the sidecar of another manager": {meta.Manager("audit"), []string{"app", "vector"}},
	} {
		t.Run(name, func(t *testing.T) {
			cart := injected(t, "cart")
			cluster := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithReturnManagedFields().WithObjects(cart).Build()
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(cart), cart))
			view := newView(cart)

			_, err := Remove(t.Context(), apply.New(cluster), &view, test.manager)

			require.NoError(t, err)
			remaining := &appsv1.Deployment{}
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(cart), remaining))
			var names []string
			for i := range remaining.Spec.Template.Spec.Containers {
				names = append(names, remaining.Spec.Template.Spec.Containers[i].Name)
			}
			require.Equal(t, test.want, names)
		})
	}
}
