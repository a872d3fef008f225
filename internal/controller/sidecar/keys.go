// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// queue is the queue of the reconcile requests.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// shareFor returns the share of the workers that a request counts for. A request for a ClusterVectorSidecar itself
// has its own share. All other requests count for their namespace, also the request for a ClusterVectorSidecar in a
// namespace.
func shareFor(request reconcile.Request) string {
	if request.Namespace == "" {
		return request.Name // The name contains a slash, so that it differs from every namespace.
	}
	return request.Namespace
}

func newRequests(names []types.NamespacedName) []reconcile.Request {
	var reconcileRequests []reconcile.Request
	for _, name := range names {
		reconcileRequests = append(reconcileRequests, reconcile.Request{NamespacedName: name})
	}
	return reconcileRequests
}

// clusterName returns the name of the ClusterVectorSidecar that a VectorSidecar stands for.
func clusterName(sidecar *v1alpha1.VectorSidecar) string {
	name, _ := meta.ParseClusterName(sidecar.Name)
	return name
}
