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

// asked is the requested input of a rendering: every layer of values that is not built in, the name
// of the environment, the policy, the template set, the copied part of the referenced
// configuration, the minor version of the API server, the minor version of the oldest kubelet if it
// adds to the API server's, and the last change of the built-in templates that rolls workloads.
// Workloads keep a digest of its JSON, so the JSON names and their order must not change. Empty
// fields are omitted, so a field that is added later does not change the digest of inputs without
// it.
type asked struct {
	Environment string           `json:"environment,omitempty"`
	Policy      string           `json:"policy,omitempty"`
	TemplateSet string           `json:"templateSet,omitempty"`
	Config      string           `json:"config,omitempty"`
	Kubernetes  string           `json:"kubernetes,omitempty"`
	Kubelet     string           `json:"kubelet,omitempty"`
	Roll        string           `json:"roll,omitempty"`
	Values      []map[string]any `json:"values,omitempty"`

	// by has the same input by name. The digest does not cover it.
	by byName
}

// byName names the sources of the input, including sources that the digest does not cover.
type byName struct {
	set    *TemplateSet
	policy *policy.Policy
	layers layers
	// version is the version of the operator. kubelet is the version of the oldest kubelet, "" if
	// the rendering does not depend on it.
	version, kubelet string
}

// names distinguishes inputs that have the same digest: by the source of each layer, and by the
// versions of the operator and the kubelet.
func (b *byName) names() string {
	return fmt.Sprintf("%d %d %d %q %q", len(b.layers.namespace), len(b.layers.sidecar), len(b.layers.workload), b.version, b.kubelet)
}

// askedFor returns the input that is available before rendering: everything except Config.
func askedFor(s *Inputs, set *TemplateSet, name string, layers layers) asked {
	found := asked{
		Environment: name, Policy: s.Platform.Policy.ExplicitDigest, Kubernetes: minorOf(s.KubeVersion), Roll: s.Platform.Roll,
		Values: []map[string]any{}, by: byName{set: set, policy: s.Platform.Policy, layers: layers, version: s.Version},
	}
	oldest, saysMore := s.kubelet()
	if saysMore {
		found.Kubelet = minorOf(oldest)
	}
	if AssumedKubelet(s.KubeVersion) != "" {
		found.by.kubelet = minorOf(oldest)
	}
	if set.Given != "" {
		found.TemplateSet = set.Name + " " + set.Given
	}
	if given := set.Environments.InstallationValues(name); len(given) > 0 {
		found.Values = append(found.Values, given)
	}
	for _, layer := range layers.all() {
		if len(layer.Tree) > 0 {
			found.Values = append(found.Values, layer.Tree)
		}
	}
	return found
}

// digest returns the digest of the input, including the copied part of a referenced ConfigMap, nil
// for no copy. The rest of that ConfigMap does not count.
func (a asked) digest(given *Copied) string {
	if given != nil {
		a.Config = given.Digest
	}
	text, _ := json.Marshal(a) // Strings and JSON values always marshal, with sorted keys.
	return meta.Digest(text, 8)
}

// changeInputs returns the input by name, including the copied part of a referenced ConfigMap, nil
// for no copy.
func (a *asked) changeInputs(given *Copied) plan.Inputs {
	found, by := plan.Inputs{}, &a.by
	if by.set == nil {
		return found
	}
	found.Name(plan.InputEnvironment, a.Environment)
	found.Name(plan.InputTemplateSet, by.set.Name)
	found.Name(plan.InputKubernetes, a.Kubernetes)
	found.Name(plan.InputKubelet, by.kubelet)
	found.Name(plan.InputOperator, by.version)
	switch {
	case by.set.Files != nil:
		found.Add(plan.InputTemplates, by.set.Files)
	case by.set.Given != "":
		found.SetDigest(plan.InputTemplates, by.set.Given)
	}
	found.Add(plan.InputPolicy, plan.Digests(by.policy.Explicit))
	found.Add(plan.InputInstallation, plan.Digests(by.set.Environments.InstallationValues(a.Environment)))
	for part, layers := range map[plan.InputKind][]environment.Layer{
		plan.InputNamespace: by.layers.namespace, plan.InputSidecar: by.layers.sidecar, plan.InputWorkload: by.layers.workload,
	} {
		var trees []map[string]any
		for i := range layers {
			trees = append(trees, layers[i].Tree)
		}
		found.Add(part, plan.Digests(trees...))
	}
	if given != nil {
		found.Add(plan.InputConfig, given.content)
	}
	return found.Compact()
}
