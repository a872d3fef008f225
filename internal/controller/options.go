// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Options are what the loop needs to know. All fields but Namespace, Installation,
// WrittenBy, Version, WatchNamespaces, Instruments, Patience and the intervals are required.
type Options struct {
	// Workloads has made what the manager's cache holds in place of workloads.
	Workloads *workloadcache.Cache
	// Catalogue turns what the platform gives into template sets.
	Catalogue *catalog.Catalog
	// Namespace is the operator's own, where template sets are. Empty for none.
	Namespace string
	// DefaultEnvironment is used when neither a VectorSidecar nor its
	// namespace names one.
	DefaultEnvironment string
	// Installation names the ConfigMap with the installation's values, one
	// key ENVIRONMENT.yaml each, and its policy. Empty for none.
	Installation types.NamespacedName
	// WrittenBy is this installation of the operator, NAMESPACE/NAME, by which its
	// writes are known. Empty for none: then nothing is known to be its own.
	WrittenBy string
	// Version of the operator. Empty for one that is not to be told of.
	Version string
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// WatchNamespaces are those that the cache is restricted to; empty for all.
	WatchNamespaces []string
	// Concurrency is how many VectorSidecars are worked on at once.
	Concurrency int
	// Instruments observe the loop.
	Instruments Instruments
	// Patience is how long a pass may make no step before the loop counts as
	// stuck; 0 for longer than anything it does may take.
	Patience time.Duration
	// ValidationJobs lets VectorSidecars have Vector judge a configuration in
	// a Job.
	ValidationJobs bool
	// ReadPods has the pods of workloads looked at that are not settled.
	ReadPods bool
	// Cache remembers renderings and checks.
	Cache *desired.Cache
	// ReconcileInterval is about how often every VectorSidecar is judged with nothing
	// remembered, LiveListInterval about how often the workloads are listed live and
	// compared with the cache; 0 for never.
	ReconcileInterval, LiveListInterval time.Duration
	// Relist has the manager's cache list the workloads anew.
	Relist func()
	// Budget is what large texts wait for, those of all passes and of what else shares it.
	Budget *bounded.Budget
}
