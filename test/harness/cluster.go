// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// ClusterVectorSidecar returns a ClusterVectorSidecar that is not created yet. It selects namespaces with the label
// team=NAME and workloads with logs=vector, and is deleted when the test ends.
func (w *World) ClusterVectorSidecar(t testing.TB) *v1alpha1.ClusterVectorSidecar {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	digest := sha256.Sum256([]byte(t.Name()))
	cluster := &v1alpha1.ClusterVectorSidecar{}
	cluster.Name = fmt.Sprintf("%.40s-%x", name, digest[:4]) // Unique although long names are cut.
	cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": cluster.Name}
	cluster.Spec.Selector.MatchLabels = map[string]string{"logs": "vector"}
	t.Cleanup(func() { w.RemoveCluster(t, cluster) })
	return cluster
}

// RemoveCluster deletes a ClusterVectorSidecar and waits until it is gone.
func (w *World) RemoveCluster(t testing.TB, cluster *v1alpha1.ClusterVectorSidecar) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	require.NoError(t, client.IgnoreNotFound(w.Client.Delete(ctx, cluster)))
	Eventually(t, cluster.Name+" to be deleted", func() bool {
		return apierrors.IsNotFound(w.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster))
	})
}
