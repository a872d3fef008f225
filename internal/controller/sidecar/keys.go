// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue is the queue of the reconcile requests.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// shareFor returns the share of the workers that a request counts for: its namespace, also for a request for a
// ClusterVectorSidecar in a namespace.
func shareFor(request reconcile.Request) string { return request.Namespace }

func newRequests(names []types.NamespacedName) []reconcile.Request {
	var reconcileRequests []reconcile.Request
	for _, name := range names {
		reconcileRequests = append(reconcileRequests, reconcile.Request{NamespacedName: name})
	}
	return reconcileRequests
}
