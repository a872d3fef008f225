// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Options configure the VectorSidecarReconciler. All fields but Namespace, Installation, WrittenBy, Version,
// WatchNamespaces, Nodes, RequiredObjects, Instruments, Patience and the intervals are required.
type Options struct {
	// Pager pages lists of live objects.
	Pager *livelist.Pager
	// Workloads makes the records that the manager's cache holds instead of workloads.
	Workloads *workloadcache.Cache
	// Catalog turns the platform's ConfigMaps into template sets.
	Catalog *desired.Catalog
	// Namespace is the operator's own, which holds the template sets. It may be empty.
	Namespace string
	// DefaultEnvironment is used when neither a VectorSidecar nor its
	// namespace names one.
	DefaultEnvironment string
	// Installation names the ConfigMap with the installation's values, under one key
	// ENVIRONMENT.yaml each, and its policy. It may be empty.
	Installation types.NamespacedName
	// WrittenBy is NAMESPACE/NAME of this installation of the operator, which marks its writes. If
	// empty, no write is recognized as its own.
	WrittenBy string
	// Version is that of the operator. If empty, it is not reported.
	Version string
	// KubeVersion is that of the API server, such as "v1.36.0".
	KubeVersion string
	// Cluster is what templates see of the rest of the cluster.
	Cluster render.Cluster
	// Nodes finds the oldest kubelet; nil if nodes are not read.
	Nodes Nodes
	// WatchNamespaces are the namespaces that the cache is restricted to; empty for all.
	WatchNamespaces []string
	// ClusterSidecars offers ClusterVectorSidecars. It must not be set with WatchNamespaces.
	ClusterSidecars bool
	// Concurrency is how many VectorSidecars are reconciled at once.
	Concurrency int
	// Instruments observe the VectorSidecarReconciler.
	Instruments Instruments
	// Patience is how long a pass may go without a step before it counts as stuck. 0 means
	// stuckAfter.
	Patience time.Duration
	// ValidationJobs lets VectorSidecars ask for validation of a configuration by Vector, in a Job.
	ValidationJobs bool
	// ReadPods enables reading the pods of unsettled workloads, as far as Permissions grant it. Permissions is nil if the API
	// server cannot be asked.
	ReadPods    bool
	Permissions Permissions
	// Quiet is how long the platform's ConfigMaps that are written by hand must not change before they are published. 0
	// means desired.DefaultQuiet, and less than 0 that they are published at once.
	Quiet time.Duration
	// Preflight enables dry runs, by which the API server judges sidecars before they are written.
	Preflight bool
	// OverlaySets enables OverlaySets, by which the API server injects into new workloads itself.
	OverlaySets bool
	// RequiredObjects are those of the installation chart that the operator depends on.
	RequiredObjects []source.RequiredObject
	// PolicyInterval is about how often to look whether the API server can do so, and whether the RequiredObjects exist. 0
	// means policyInterval.
	PolicyInterval time.Duration
	// ReadAccounts enables reading the ServiceAccounts of workloads that get a pull secret.
	ReadAccounts bool
	// Cache holds renderings and checks.
	Cache *desired.Cache
	// ReconcileInterval is roughly how often every VectorSidecar is reconciled without any memory; 0 for never.
	ReconcileInterval time.Duration
	// Clock tells the time by which the API server and its controllers date what they write.
	Clock func() time.Time
	// Budget bounds the memory for large texts, of all passes and of whoever shares it.
	Budget *bounded.Budget
}
