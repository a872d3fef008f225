// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// The check warns about controller owners that remove the sidecar from their workloads.
func TestCheckOwners_NamesControllersThatRemoveSidecars(t *testing.T) {
	sidecar := func(name string, owned v1alpha1.OwnedWorkloads, takenOut ...v1alpha1.OwnerRemoval) *v1alpha1.VectorSidecar {
		return &v1alpha1.VectorSidecar{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: v1alpha1.VectorSidecarSpec{OwnedWorkloads: owned},
			Status: v1alpha1.VectorSidecarStatus{RemovedByOwners: takenOut},
		}
	}
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	kafka := v1alpha1.OwnerRemoval{Kind: "StatefulSet", OwnerKind: "Kafka.kafka.strimzi.io", Name: "orders-kafka", Owner: "orders"}
	cluster.Spec.OwnedWorkloads = v1alpha1.OwnedAtAdmission
	cluster.Status.RemovedByOwners = []v1alpha1.OwnerRemoval{kafka}
	set := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "vectorsidecars"}, Spec: v1alpha1.OverlaySetSpec{
		Overlays: []v1alpha1.Overlay{{VectorSidecar: "served"}, {VectorSidecar: "left", SkipReason: "for a reason"}, {VectorSidecar: "clustervectorsidecar/all"}},
	}}

	quiet := &Diagnosis{Cluster: clusterOf(t, sidecar("logs", ""))}
	require.Empty(t, quiet.checkOwners(t.Context()))
	found := (&Diagnosis{Cluster: clusterOf(t, cluster, set,
		sidecar("logs", "", kafka), sidecar("served", v1alpha1.OwnedAtAdmission), sidecar("left", v1alpha1.OwnedAtAdmission), sidecar("off", v1alpha1.OwnedAtAdmission),
	)}).checkOwners(t.Context())

	require.Len(t, found, 2)
	require.Equal(t, "sidecars removed by controller owners: controller owners of kind Kafka.kafka.strimzi.io remove the sidecar of clustervectorsidecar/all from workloads of kind StatefulSet, "+
		"controller owners of kind Kafka.kafka.strimzi.io remove the sidecar of shop/logs from workloads of kind StatefulSet", found[0].Message)
	require.Equal(t, "spec.ownedWorkloads is AtAdmission, but the API server does not inject the sidecars of: shop/left, shop/off", found[1].Message)
	for _, result := range found {
		require.Equal(t, Warning, result.State)
	}
}
