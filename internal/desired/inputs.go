// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Inputs are what the sidecars of one VectorSidecar are rendered from, but for the
// workloads themselves.
type Inputs struct {
	Sidecar *v1alpha1.VectorSidecar
	// NamespaceLabels are those of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// ConfigMaps are those of the namespace that were looked for, by name: nil is one
	// that does not exist. One that is not among them was not looked for, and what
	// depends on it is not to be acted on, unless HasAllConfigMaps tells that the
	// namespace has no others.
	ConfigMaps       map[string]*corev1.ConfigMap
	HasAllConfigMaps bool
	// LeavesReference has the ConfigMap that the values refer to neither read nor
	// judged: whoever asks leaves that to another decision.
	LeavesReference bool

	// Platform is what the platform team gives: template sets, values, policy.
	Platform *Platform
	// DefaultEnvironment is used when neither the VectorSidecar nor its
	// namespace names one. DefaultFrom is what names it, "" for the operator.
	DefaultEnvironment, DefaultFrom string
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// WrittenBy is the installation of the operator, NAMESPACE/NAME, which marks what it
	// writes; "" for none.
	WrittenBy string
	// Version is that of the operator which writes, "" where that is not known.
	Version string
	// Budget is what large texts wait for before they are read; nil for nothing.
	Budget *bounded.Budget
	// AsksVector has a Validation made whatever the values say: somebody asks Vector without
	// a Job.
	AsksVector bool
	// Renderers is how many workloads are rendered for at once; less than two
	// is one after the other.
	Renderers int
	// Observer is told of the steps; nil tells nobody.
	Observer Observer
}

// environment returns the environment and what names it.
func (in *Inputs) environment() (name, from string) {
	if name := in.Sidecar.Spec.Environment; name != "" {
		return name, "spec.environment of the VectorSidecar"
	}
	if name := in.NamespaceLabels[meta.LabelEnvironment]; name != "" {
		return name, "the label of namespace " + in.Sidecar.Namespace
	}
	return in.DefaultEnvironment, cmp.Or(in.DefaultFrom, "the operator's default")
}
