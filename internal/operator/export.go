// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimemetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// exportMetrics registers the operator's metrics, unless the metrics endpoint is disabled. The returned function
// unregisters them, because tests run several operators in one process.
func exportMetrics(ctx context.Context, mgr ctrl.Manager, options Options, counted *telemetry.Metrics) (unexport func(), err error) {
	if options.MetricsBindAddress == "0" {
		return func() {}, nil
	}
	if err := countCachedObjects(ctx, mgr, options, counted); err != nil {
		return nil, fmt.Errorf("counting cached objects: %w", err)
	}
	if err := runtimemetrics.Registry.Register(counted); err != nil {
		return nil, fmt.Errorf("registering the metrics: %w", err)
	}
	return func() { runtimemetrics.Registry.Unregister(counted) }, nil
}

// countCachedObjects counts the objects that are added to and deleted from the cache, except workloads.
func countCachedObjects(ctx context.Context, mgr ctrl.Manager, options Options, counted *telemetry.Metrics) error {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	kinds := map[string]client.Object{
		"VectorSidecar": &v1alpha1.VectorSidecar{}, "ConfigMap": &corev1.ConfigMap{},
	}
	if len(options.WatchNamespaces) == 0 {
		kinds["Namespace"] = namespace
	}
	if options.ClusterSidecars {
		kinds["ClusterVectorSidecar"] = &v1alpha1.ClusterVectorSidecar{}
	}
	for kind, object := range kinds {
		informer, err := mgr.GetCache().GetInformer(ctx, object)
		if err != nil {
			return err
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { counted.AddCachedObjects(kind, 1) },
			DeleteFunc: func(any) { counted.AddCachedObjects(kind, -1) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}
