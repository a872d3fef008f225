// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/cause"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
)

// layers are the values that are not of an environment, by whose they are.
type layers struct{ namespace, sidecar, workload []environment.Layer }

// all are the layers in their order.
func (l *layers) all() []environment.Layer {
	return slices.Concat(l.namespace, l.sidecar, l.workload)
}

// inputs are where what is asked for is from, beside what its digest covers.
type inputs struct {
	set    *catalog.Set
	policy *policy.Policy
	layers layers
	// version is the operator's.
	version string
}

// inputs tells what is asked for by name, with what is copied of a referenced ConfigMap,
// nil for nothing.
func (a *asked) inputs(given *copied) cause.Inputs {
	found, by := cause.Inputs{}, &a.by
	if by.set == nil {
		return found
	}
	found.Name(cause.Environment, a.Environment)
	found.Name(cause.TemplateSet, by.set.Name)
	found.Name(cause.Kubernetes, a.Kubernetes)
	found.Name(cause.Operator, by.version)
	switch {
	case by.set.Files != nil:
		found.Add(cause.Templates, by.set.Files)
	case by.set.Given != "":
		found.Whole(cause.Templates, by.set.Given)
	}
	found.Add(cause.Policy, cause.Digests(by.policy.Beyond))
	found.Add(cause.Installation, cause.Digests(by.set.Environments.Given(a.Environment)))
	for part, layers := range map[cause.Part][]environment.Layer{
		cause.Namespace: by.layers.namespace, cause.Sidecar: by.layers.sidecar, cause.Workload: by.layers.workload,
	} {
		var trees []map[string]any
		for i := range layers {
			trees = append(trees, layers[i].Tree)
		}
		found.Add(part, cause.Digests(trees...))
	}
	if given != nil {
		found.Add(cause.Config, given.content)
	}
	return found.Bounded()
}
