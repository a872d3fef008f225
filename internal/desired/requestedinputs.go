// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"encoding/json"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
)

// requestedInputs is the requested input of a rendering. It contains:
//
//   - every layer of values that is not built in, and the name of the environment
//   - the policy and the template set
//   - the part of the referenced configuration that is copied
//   - the minor version of the API server, and the minor version of the oldest kubelet if it is not the assumed one
//   - the last change of the built-in templates that restarts pods
//
// Workloads store a digest of its JSON, so the JSON names and their order must not change. Empty fields are omitted, so
// that a new field does not change the digests of inputs without it.
type requestedInputs struct {
	Environment string           `json:"environment,omitempty"`
	Policy      string           `json:"policy,omitempty"`
	TemplateSet string           `json:"templateSet,omitempty"`
	Config      string           `json:"config,omitempty"`
	Kubernetes  string           `json:"kubernetes,omitempty"`
	Kubelet     string           `json:"kubelet,omitempty"`
	Roll        string           `json:"roll,omitempty"`
	Values      []map[string]any `json:"values,omitempty"`

	// sources are the objects that the fields above were read from. They are not in the digest of the input.
	sources inputSources
}

// inputSources contains the objects from which the requested input was built. Some of their content is not in the
// digest.
type inputSources struct {
	set    *TemplateSet
	policy *policy.Policy
	layers layers
	// version is the version of the operator. kubelet is the version of the oldest kubelet, or "" if the
	// rendering does not depend on it.
	version, kubelet string
}

// names returns a text that identifies the sources: the number of layers of each source, and the versions of the
// operator and the kubelet. Inputs with the same digest may have different sources.
func (b *inputSources) names() string {
	return fmt.Sprintf("%d %d %d %q %q", len(b.layers.namespace), len(b.layers.sidecar), len(b.layers.workload), b.version, b.kubelet)
}

// newRequestedInputs returns the requested input. Config is still empty, because the copied part of the configuration
// is known only after rendering.
func newRequestedInputs(s *Inputs, set *TemplateSet, name string, layers layers) requestedInputs {
	requested := requestedInputs{
		Environment: name, Policy: s.Platform.Policy.ExplicitDigest, Kubernetes: minorVersion(s.KubeVersion), Roll: s.Platform.Roll,
		Values: []map[string]any{}, sources: inputSources{set: set, policy: s.Platform.Policy, layers: layers, version: s.Version},
	}
	oldest, differs := s.kubelet()
	if differs {
		requested.Kubelet = minorVersion(oldest)
	}
	if AssumedKubelet(s.KubeVersion) != "" {
		requested.sources.kubelet = minorVersion(oldest)
	}
	if set.ProvidedDigest != "" {
		requested.TemplateSet = set.Name + " " + set.ProvidedDigest
	}
	if values := set.Environments.InstallationValues(name); len(values) > 0 {
		requested.Values = append(requested.Values, values)
	}
	for _, layer := range layers.list() {
		if len(layer.Tree) > 0 {
			requested.Values = append(requested.Values, layer.Tree)
		}
	}
	return requested
}

// digest returns the digest of the input. configMapCopy is the copy of the referenced ConfigMap, or nil if none is
// copied. Only the copied part of that ConfigMap is in the digest.
func (a requestedInputs) digest(configMapCopy *ConfigMapCopy) string {
	if configMapCopy != nil {
		a.Config = configMapCopy.Digest
	}
	text, _ := json.Marshal(a) // Strings and JSON values always marshal, with sorted keys.
	return meta.Digest(text, 8)
}

// changeInputs returns digests of the input by source. A later plan compares them with new digests to describe the
// changes. configMapCopy is nil if no ConfigMap is copied.
func (a *requestedInputs) changeInputs(configMapCopy *ConfigMapCopy) plan.Inputs {
	inputs, sources := plan.Inputs{}, &a.sources
	if sources.set == nil {
		return inputs
	}
	inputs.Name(plan.InputEnvironment, a.Environment)
	inputs.Name(plan.InputTemplateSet, sources.set.Name)
	inputs.Name(plan.InputKubernetes, a.Kubernetes)
	inputs.Name(plan.InputKubelet, sources.kubelet)
	inputs.Name(plan.InputOperator, sources.version)
	switch {
	case sources.set.Files != nil:
		inputs.Add(plan.InputTemplates, sources.set.Files)
	case sources.set.ProvidedDigest != "":
		inputs.SetDigest(plan.InputTemplates, sources.set.ProvidedDigest)
	}
	inputs.Add(plan.InputPolicy, plan.Digests(sources.policy.Explicit))
	inputs.Add(plan.InputInstallation, plan.Digests(sources.set.Environments.InstallationValues(a.Environment)))
	for section, layers := range map[plan.InputKind][]environment.Layer{
		plan.InputNamespace: sources.layers.namespace, plan.InputSidecar: sources.layers.sidecar, plan.InputWorkload: sources.layers.workload,
	} {
		var trees []map[string]any
		for i := range layers {
			trees = append(trees, layers[i].Tree)
		}
		inputs.Add(section, plan.Digests(trees...))
	}
	if configMapCopy != nil {
		inputs.Add(plan.InputConfig, configMapCopy.content)
	}
	return inputs.Compact()
}
