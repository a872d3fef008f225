// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// clusterVersion identifies the state of a ClusterVectorSidecar that the reconciles of its namespaces depend on. A
// new version requeues the namespaces.
type clusterVersion struct {
	uid        types.UID
	generation int64
	isDeleting bool
	request    string
	// retry and promote are digests of the user's requests that requeue the namespaces.
	retry, promote string
	// isReverted is true while the spec of the ClusterVectorSidecar is reverted.
	isReverted bool
}

func newClusterVersion(cluster *v1alpha1.ClusterVectorSidecar) clusterVersion {
	return clusterVersion{
		cluster.UID, cluster.Generation, cluster.DeletionTimestamp != nil, notify.ReconcileRequest(cluster),
		fleet.RetryDigest(cluster.Annotations), cluster.Annotations[meta.AnnotationPromoteRollout],
		lastgood.Generation(clusterwide.NewSidecarWithoutNamespace(cluster)) < 0,
	}
}
