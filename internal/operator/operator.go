// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package operator wires the process: options, cache, health, metrics, leader
// election and the loop. What the loop does is not its business.
package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller"
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// gracePeriod is how long work in flight may go on after the signal to stop.
const gracePeriod = 10 * time.Second

// Run runs the operator with a sidecar chart until the context ends.
func Run(ctx context.Context, config *rest.Config, chart fs.FS, options Options) error {
	loaded, err := sidecarchart.Load(chart)
	if err != nil {
		return err
	}
	if _, err := loaded.Environments.Values(options.Environment); err != nil && options.EnvironmentsConfigMap == "" {
		return fmt.Errorf("--environment: %w", err)
	}
	version, err := kubeVersion(config)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, managerOptions(options))
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := addChecks(mgr); err != nil {
		return err
	}
	installation := types.NamespacedName{}
	if options.EnvironmentsConfigMap != "" {
		installation = types.NamespacedName{Namespace: options.Namespace, Name: options.EnvironmentsConfigMap}
	}
	err = controller.Setup(ctx, mgr, controller.Options{
		Chart:              loaded,
		DefaultEnvironment: options.Environment,
		Installation:       installation,
		KubeVersion:        version,
		Concurrency:        options.Concurrency,
	})
	if err != nil {
		return fmt.Errorf("setting up the loop: %w", err)
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	return nil
}

func kubeVersion(config *rest.Config) (string, error) {
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("making a discovery client: %w", err)
	}
	version, err := found.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("asking the API server for its version: %w", err)
	}
	return version.GitVersion, nil
}

func scheme() *runtime.Scheme {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			panic(err) // Types that are compiled in always register.
		}
	}
	return known
}

func managerOptions(options Options) ctrl.Options {
	grace := gracePeriod
	return ctrl.Options{
		Scheme: scheme(),
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&appsv1.Deployment{}: {Transform: reduce},
				// Every namespace has one of these, and none configures Vector.
				&corev1.ConfigMap{}: {Field: fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")},
			},
		},
		Metrics: metricsserver.Options{
			BindAddress:    options.MetricsBindAddress,
			SecureServing:  true,
			CertDir:        options.MetricsCertDir,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		HealthProbeBindAddress:        options.HealthProbeBindAddress,
		LeaderElection:                options.LeaderElect,
		LeaderElectionID:              options.LeaderElectionID,
		LeaderElectionNamespace:       options.Namespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &grace,
	}
}

// reduce keeps of a Deployment in the cache what planning looks at.
func reduce(object any) (any, error) {
	if deployment, ok := object.(*appsv1.Deployment); ok {
		return workload.Reduce(deployment), nil
	}
	return object, nil
}

func addChecks(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	err := mgr.AddReadyzCheck("caches", func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}
