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
)

// Settings are the inputs that are the same for all VectorSidecars of an operator.
type Settings struct {
	// Home is the operator namespace, or "" if it is unknown. A ClusterVectorSidecar may refer to a ConfigMap
	// in that namespace.
	Home string
	// DefaultEnvironment is used if neither the VectorSidecar nor its namespace names an environment. DefaultFrom
	// names the setting of the default, or is "" for the operator's setting.
	DefaultEnvironment, DefaultFrom string
	// KubeVersion is the version of the API server, such as "v1.36.0".
	KubeVersion string
	// Cluster contains the other data about the cluster that templates can read.
	Cluster render.Cluster
	// OldestKubelet is the oldest kubelet of the cluster. It is the zero value if nodes are not read.
	OldestKubelet Kubelet
	// WrittenBy is the installation of the operator, NAMESPACE/NAME, which is recorded on written objects. If
	// it is "", no installation is recorded.
	WrittenBy string
	// Version is the version of the operator, or "" if it is unknown.
	Version string
	// Budget limits the total size of large texts that are read at the same time. If it is nil, the size is not
	// limited.
	Budget *bounded.Budget
}

// Inputs are all inputs from which the sidecars of one VectorSidecar are rendered, except the workloads.
type Inputs struct {
	Settings

	Sidecar *v1alpha1.VectorSidecar
	// Scopes are the scopes of the VectorSidecar and of the other VectorSidecars of the namespace.
	Scopes ParentScopes
	// NamespaceLabels are the labels of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// NamespaceUsers is the range of user IDs that OpenShift assigns to pods of the namespace.
	NamespaceUsers policy.UserRange
	// ConfigMaps reads the ConfigMaps that the sidecars depend on, and Accounts the ServiceAccounts of workloads.
	// Every read of an object must return the same content.
	ConfigMaps ConfigMapReader
	Accounts   ServiceAccountReader
	// Pinned are ConfigMaps, by their lookup keys, that are used instead of the current ones.
	Pinned map[string]*corev1.ConfigMap
	// LeavesReference is true if the ConfigMap that the values refer to is not read, because another evaluation reads
	// and checks it.
	LeavesReference bool

	// Platform contains the template sets, the values and the policy of the platform team.
	Platform *Platform
	// ValidatesAlways is true if every rendering gets a Validation, even if the values do not request one. Callers that
	// run Vector without a Job set it.
	ValidatesAlways bool
	// Renderers is the number of workloads that are rendered in parallel. If it is less than 2, they are
	// rendered one after the other.
	Renderers int
	// Observer is called for each step, or is nil.
	Observer Observer
}

// Scope returns the ParentScope of the VectorSidecar.
func (in *Inputs) Scope() ParentScope { return in.Scopes[in.Sidecar.Name] }

// SetScope replaces the ParentScope of the VectorSidecar.
func (in *Inputs) SetScope(scope ParentScope) {
	if in.Scopes == nil {
		in.Scopes = ParentScopes{}
	}
	in.Scopes[in.Sidecar.Name] = scope
}

// ResolveEnvironment returns the name of the environment of a VectorSidecar, and a description of the setting that
// selects it. namespaceLabels are the labels of the VectorSidecar's namespace.
func (s *Settings) ResolveEnvironment(sidecar *v1alpha1.VectorSidecar, namespaceLabels map[string]string) (name, source string) {
	if name := sidecar.Spec.Environment; name != "" {
		return name, "spec.environment of the VectorSidecar"
	}
	if name := namespaceLabels[meta.LabelEnvironment]; name != "" {
		return name, "the label of namespace " + sidecar.Namespace
	}
	return s.DefaultEnvironment, cmp.Or(s.DefaultFrom, "the operator's default")
}

// WaveFor returns the number of the wave of a VectorSidecar in a namespace with some labels.
func (p *Platform) WaveFor(spec *v1alpha1.VectorSidecarSpec, namespaceLabels map[string]string, defaultEnvironment string) int {
	settings := Settings{DefaultEnvironment: defaultEnvironment}
	environment, _ := settings.ResolveEnvironment(&v1alpha1.VectorSidecar{Spec: *spec}, namespaceLabels)
	return p.Rollout.WaveFor(namespaceLabels, environment)
}
