// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"fmt"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// owners are the VectorSidecars and ClusterVectorSidecars that exist.
type owners struct {
	sidecars []v1alpha1.VectorSidecar
	clusters []v1alpha1.ClusterVectorSidecar
}

// cachedOwners lists the VectorSidecars in all namespaces and the ClusterVectorSidecars from the cache.
func (r *Reconciler) cachedOwners(ctx context.Context) *owners {
	return &owners{r.Sidecars.ListIn(ctx, ""), r.Sidecars.Clusters(ctx)}
}

// liveOwners lists the VectorSidecars in a namespace and the ClusterVectorSidecars from the API server, with their names
// and UIDs only. It makes a list and
// not a Get request, because a Get request also returns NotFound if the CustomResourceDefinition is missing.
func (r *Reconciler) liveOwners(ctx context.Context, namespace string) (*owners, error) {
	sidecars, err := livelist.Collect(ctx, r.Live, livelist.Metadata(v1alpha1.GroupVersion.WithKind("VectorSidecar")), func(listed client.Object) (v1alpha1.VectorSidecar, bool) {
		return v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: listed.GetNamespace(), Name: listed.GetName(), UID: listed.GetUID()}}, true
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("listing VectorSidecars: %w", err)
	}
	clusters, err := r.Sidecars.LiveClusters(ctx, r.Live)
	return &owners{sidecars, clusters}, err
}

// existenceCheck returns a function that reports whether the owner of a field manager exists in a namespace.
func (r *Reconciler) existenceCheck(existing *owners) func(namespace, manager string) bool {
	return r.Sidecars.WithDisabledClusters(companion.NewExistenceCheck(existing.sidecars, existing.clusters))
}

// carriers returns the workloads with traces of the operator from the cache.
func (r *Reconciler) carriers() iter.Seq[companion.Carrier] {
	return func(yield func(companion.Carrier) bool) {
		for _, record := range r.Workloads.ListTraced() {
			if !yield(companion.Carrier{Ref: record.Ref, Deleting: record.IsDeleting(), Traces: record.Traces()}) {
				return
			}
		}
	}
}
