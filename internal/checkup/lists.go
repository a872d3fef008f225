// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// liveClient returns a client for lists. Checks run one after another.
func (d *Diagnosis) liveClient() *livelist.Client { return livelist.New(d.Cluster) }

// collectSidecars lists the VectorSidecars of a namespace, "" for all, and returns the results of reduce.
func collectSidecars[T any](ctx context.Context, d *Diagnosis, namespace string, reduce func(*v1alpha1.VectorSidecar) T) ([]T, error) {
	return livelist.Collect(ctx, d.liveClient(), &v1alpha1.VectorSidecarList{}, func(sidecar *v1alpha1.VectorSidecar) (T, bool) {
		return reduce(sidecar), true
	}, client.InNamespace(namespace))
}

// collectClusters lists the ClusterVectorSidecars and returns the results of reduce.
func collectClusters[T any](ctx context.Context, d *Diagnosis, reduce func(*v1alpha1.ClusterVectorSidecar) T) ([]T, error) {
	return livelist.Collect(ctx, d.liveClient(), &v1alpha1.ClusterVectorSidecarList{}, func(cluster *v1alpha1.ClusterVectorSidecar) (T, bool) {
		return reduce(cluster), true
	})
}

// collectNames lists the metadata of a kind in a namespace, "" for all, and returns the names.
func (d *Diagnosis) collectNames(ctx context.Context, kind, namespace string) ([]client.ObjectKey, error) {
	return livelist.Collect(ctx, d.liveClient(), livelist.Metadata(v1alpha1.GroupVersion.WithKind(kind)), func(object client.Object) (client.ObjectKey, bool) {
		return client.ObjectKeyFromObject(object), true
	}, client.InNamespace(namespace))
}

// isServed lists a kind until the first object. It returns an error if the kind cannot be listed.
func isServed(ctx context.Context, live *livelist.Client, kind, namespace string) error {
	isAny := func(client.Object) bool { return true }
	_, err := livelist.Contains(ctx, live, livelist.Metadata(v1alpha1.GroupVersion.WithKind(kind)), isAny, client.InNamespace(namespace))
	return err
}

// isAbsent reports whether an error means that the object or its kind does not exist.
func isAbsent(err error) bool { return apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) }
