// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// The check warns about overlays of VectorSidecars and ClusterVectorSidecars that do not exist.
func TestCheckOverlaySets_NamesLeftoverOverlays(t *testing.T) {
	own := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs"}}
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set := func(owners ...string) *v1alpha1.OverlaySet {
		made := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "vectorsidecars"}}
		for _, owner := range owners {
			made.Spec.Overlays = append(made.Spec.Overlays, v1alpha1.Overlay{VectorSidecar: owner})
		}
		made.Spec.Overlays[0].SkipReason = "for a reason"
		return made
	}
	found := (&Diagnosis{Cluster: clusterOf(t, own, cluster, set("logs", "clustervectorsidecar/all"))}).checkOverlaySets(t.Context())
	require.Equal(t, OK, found[0].State)
	require.Equal(t, "the API server injects 1 overlays in 1 namespaces; the operator injects 1 more sidecars itself", found[0].Message)

	found = (&Diagnosis{Cluster: clusterOf(t, own, set("logs", "all", "clustervectorsidecar/logs"))}).checkOverlaySets(t.Context())
	require.Equal(t, Warning, found[0].State)
	require.Equal(t, "OverlaySets have sidecars of VectorSidecars or ClusterVectorSidecars that do not exist: "+
		"clustervectorsidecar/logs in namespace shop, shop/all", found[0].Message)
}
