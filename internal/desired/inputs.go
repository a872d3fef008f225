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

// Inputs are the inputs from which the sidecars of one VectorSidecar are rendered, except for the
// workloads.
type Inputs struct {
	Sidecar *v1alpha1.VectorSidecar
	// NamespaceLabels are the labels of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// NamespaceUsers are the users that the namespace assigns to its pods, on OpenShift.
	NamespaceUsers policy.UserRange
	// ConfigMaps are the ConfigMaps that were looked up, by ConfigMapKey; nil if the ConfigMap does
	// not exist. A result that depends on other ConfigMaps must not be used, unless
	// HasAllConfigMaps is true. HasAllConfigMaps reports that the namespace has no other
	// ConfigMaps.
	ConfigMaps       map[string]*corev1.ConfigMap
	HasAllConfigMaps bool
	// Home is the operator namespace, "" if unknown. A ClusterVectorSidecar may refer to a
	// ConfigMap there.
	Home string
	// LeavesReference skips reading and checking the ConfigMap that the values refer to, because
	// the caller leaves that to another decision.
	LeavesReference bool
	// Accounts are the ServiceAccounts of the namespace that were looked up, by name.
	Accounts map[string]*workload.Account

	// Platform has the template sets, the values and the policy of the platform team.
	Platform *Platform
	// DefaultEnvironment is used if neither the VectorSidecar nor its namespace names an
	// environment. DefaultFrom names its source, "" for the operator.
	DefaultEnvironment, DefaultFrom string
	// KubeVersion is the version of the API server, such as "v1.36.0".
	KubeVersion string
	// Cluster is the data of the rest of the cluster that templates can read.
	Cluster render.Cluster
	// OldestKubelet is the oldest kubelet of the cluster, if nodes are read.
	OldestKubelet Kubelet
	// WrittenBy is the installation of the operator, NAMESPACE/NAME, which is recorded on written
	// objects; "" to record none.
	WrittenBy string
	// Version is the version of the operator, "" if unknown.
	Version string
	// Budget limits how many bytes of large texts are read at the same time; nil is unlimited.
	Budget *bounded.Budget
	// AsksVector always creates a Validation, regardless of the values, for a caller that runs
	// Vector without a Job.
	AsksVector bool
	// Renderers is the number of workloads that are rendered in parallel; less than two is
	// sequential.
	Renderers int
	// Observer is called for each step; it may be nil.
	Observer Observer
}

// ResolveEnvironment returns the environment and the setting that names it.
func (in *Inputs) ResolveEnvironment() (name, source string) {
	if name := in.Sidecar.Spec.Environment; name != "" {
		return name, "spec.environment of the VectorSidecar"
	}
	if name := in.NamespaceLabels[meta.LabelEnvironment]; name != "" {
		return name, "the label of namespace " + in.Sidecar.Namespace
	}
	return in.DefaultEnvironment, cmp.Or(in.DefaultFrom, "the operator's default")
}
