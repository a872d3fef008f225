// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/podfaults"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Options configure the VectorSidecarReconciler. All fields except Home, Installation, WrittenBy, Version,
// WatchNamespaces, Nodes, RequiredObjects, Instruments, Timeout and the intervals are required.
type Options struct {
	// Pager pages lists of live objects.
	Pager *livelist.Pager
	// Workloads creates the records that the manager's cache holds instead of workloads.
	Workloads *workloadcache.Cache
	// Catalog turns the platform's ConfigMaps into template sets.
	Catalog *desired.Catalog
	// Settings are the settings for rendering sidecars. Home, the operator namespace, has the template sets; it may be
	// empty. OldestKubelet is not used.
	Settings desired.Settings
	// Installation names the ConfigMap with the policy and the values of the installation. Each environment has a key
	// ENVIRONMENT.yaml. Installation may be empty.
	Installation types.NamespacedName
	// Nodes finds the oldest kubelet. It is nil if nodes are not read.
	Nodes Nodes
	// WatchNamespaces are the namespaces that the cache is restricted to. It is empty for all namespaces.
	WatchNamespaces []string
	// ClusterSidecars enables ClusterVectorSidecars. It must not be set together with WatchNamespaces.
	ClusterSidecars bool
	// Concurrency is the number of VectorSidecars that are reconciled concurrently.
	Concurrency int
	// Instruments observe the VectorSidecarReconciler.
	Instruments instrument.Instruments
	// Timeout is the maximum time in a reconcile without a step, before the reconcile counts as stuck. 0 means
	// stuckAfter.
	Timeout time.Duration
	// ValidationJobs allows VectorSidecars to request the validation of a configuration by Vector, in a Job.
	ValidationJobs bool
	// ReadPods enables reading the pods of workloads that are not ready, if Permissions allow it. Permissions is nil
	// if the API server cannot be queried for permissions.
	ReadPods    bool
	Permissions podfaults.Permissions
	// Quiet is how long ConfigMaps of the platform that are written by hand must stay unchanged before they are
	// published. 0 means desired.DefaultQuiet. A negative value means that they are published at once.
	Quiet time.Duration
	// Preflight enables dry runs, in which the API server checks sidecars before they are written.
	Preflight bool
	// OverlaySets enables OverlaySets, from which the API server injects sidecars into new workloads.
	OverlaySets bool
	// RequiredObjects are the objects of the installation chart that the operator depends on.
	RequiredObjects []source.RequiredObject
	// PolicyInterval is the approximate interval of two checks: whether the API server can inject from OverlaySets,
	// and whether the RequiredObjects exist. 0 means overlayset.PolicyInterval.
	PolicyInterval time.Duration
	// ReadAccounts enables reading the ServiceAccounts of workloads that get a pull secret.
	ReadAccounts bool
	// Cache caches renderings and checks.
	Cache *desired.Cache
	// ReconcileInterval is the approximate interval at which every VectorSidecar is reconciled without cached state.
	// 0 means never.
	ReconcileInterval time.Duration
	// Clock returns the time that the API server and its controllers use for timestamps.
	Clock func() time.Time
}
