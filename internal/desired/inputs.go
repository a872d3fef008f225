// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Inputs are what the sidecars of one VectorSidecar are rendered from, except for the
// workloads.
type Inputs struct {
	Sidecar *v1alpha1.VectorSidecar
	// NamespaceLabels are those of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// NamespaceUsers are the users that it assigns to its pods, on OpenShift.
	NamespaceUsers policy.UserRange
	// ConfigMaps are those that were looked up, by ConfigMapKey: nil is a missing one.
	// Others were not looked up, and a result that depends on them must
	// not be acted on, unless HasAllConfigMaps says that the namespace has no others.
	ConfigMaps       map[string]*corev1.ConfigMap
	HasAllConfigMaps bool
	// Home is the operator's namespace, "" if that is not known: a ClusterVectorSidecar may
	// refer to a ConfigMap there.
	Home string
	// LeavesReference skips reading and checking the ConfigMap that the values refer
	// to: the caller leaves that to another decision.
	LeavesReference bool
	// Accounts are the ServiceAccounts of the namespace that were looked up, by name.
	Accounts map[string]*workload.Account

	// Platform is what the platform team provides: template sets, values, policy.
	Platform *Platform
	// DefaultEnvironment is used when neither the VectorSidecar nor its namespace names
	// one. DefaultFrom is what names it, "" for the operator.
	DefaultEnvironment, DefaultFrom string
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// Cluster is what templates see of the rest of the cluster.
	Cluster render.Cluster
	// OldestKubelet is the oldest one of the cluster, as far as nodes are read.
	OldestKubelet Kubelet
	// WrittenBy is the operator's installation, NAMESPACE/NAME, which is marked on what
	// it writes; "" for none.
	WrittenBy string
	// Version is the operator's, "" if unknown.
	Version string
	// Budget is waited for before large texts are read; nil does not wait.
	Budget *bounded.Budget
	// AsksVector always makes a Validation, whatever the values say, for a caller that runs
	// Vector without a Job.
	AsksVector bool
	// Renderers is how many workloads are rendered in parallel; less than two is
	// sequential.
	Renderers int
	// Observer is called for each step; it may be nil.
	Observer Observer
}

// EnvironmentOf returns the environment and what names it.
func (in *Inputs) EnvironmentOf() (name, from string) {
	if name := in.Sidecar.Spec.Environment; name != "" {
		return name, "spec.environment of the VectorSidecar"
	}
	if name := in.NamespaceLabels[meta.LabelEnvironment]; name != "" {
		return name, "the label of namespace " + in.Sidecar.Namespace
	}
	return in.DefaultEnvironment, cmp.Or(in.DefaultFrom, "the operator's default")
}
