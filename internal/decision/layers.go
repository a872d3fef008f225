// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/platform"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ValuesOf are the values that a VectorSidecar's sidecar is rendered from, without
// what workloads override, or why there are none.
func ValuesOf(s *Snapshot) (environment.Values, *Invalid) {
	name, _ := environmentOf(s)
	set, invalid := s.templateSet(name)
	if invalid != nil {
		return environment.Values{}, invalid
	}
	values, _, invalid := s.values(set, name)
	return values, invalid
}

// values merges the layers of an environment with those of the namespace, of the
// VectorSidecar and what overrides it, which it returns as well.
func (s *Snapshot) values(set *platform.Set, name string, overrides ...environment.Layer) (environment.Values, layers, *Invalid) {
	namespace, err := s.namespaceLayers()
	if err != nil {
		return environment.Values{}, layers{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	own, err := LayerOf(s.Sidecar)
	if err != nil {
		return environment.Values{}, layers{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	given := layers{namespace: namespace, sidecar: []environment.Layer{own}, workload: overrides}
	values, err := set.Environments.Values(name, given.all()...)
	var unknown *environment.UnknownError
	switch {
	case errors.As(err, &unknown):
		return values, given, &Invalid{meta.ReasonUnknownEnvironment, fmt.Sprintf("%s: %s", describe(s.Sidecar), err)}
	case err != nil:
		return values, given, &Invalid{meta.ReasonInvalidValues, fmt.Sprintf("values for environment %q: %s", name, err)}
	}
	return values, given, nil
}

// namespaceLayers is the layer of the namespace's defaults, if it has any.
func (s *Snapshot) namespaceLayers() ([]environment.Layer, error) {
	object := s.read(meta.NamespaceDefaults)
	if object == nil {
		return nil, nil
	}
	source := fmt.Sprintf("ConfigMap %s/%s", s.Sidecar.Namespace, meta.NamespaceDefaults)
	text, ok := object.Data[meta.NamespaceDefaultsKey]
	if !ok {
		return nil, fmt.Errorf("%s has no key %q; %s", source, meta.NamespaceDefaultsKey, keysOf(object))
	}
	layer, err := environment.ParseLayer(source+" "+meta.NamespaceDefaultsKey, []byte(text))
	if err != nil {
		return nil, err
	}
	return []environment.Layer{layer}, within(&layer, s.Platform.Policy.Overrides.Namespaces, "a namespace", "namespaces")
}

// workloadLayers are the values that a workload's annotations give, in the order of
// their paths.
func (s *Snapshot) workloadLayers(view *workload.View) ([]environment.Layer, error) {
	var layers []environment.Layer
	for _, path := range slices.Sorted(maps.Keys(view.Overrides)) {
		source := fmt.Sprintf("annotation %s%s", meta.AnnotationValuesPrefix, path)
		layer, err := environment.ParseValue(source, path, []byte(view.Overrides[path]))
		if err == nil {
			err = within(&layer, s.Platform.Policy.Overrides.Workloads, "a workload", "workloads")
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// within refuses a layer that sets more than the platform allows.
func within(layer *environment.Layer, allowed []string, who, key string) error {
	var findings []error
	for _, path := range layer.Outside(allowed) {
		help := "the platform allows " + strings.Join(allowed, ", ")
		if len(allowed) == 0 {
			help = "the platform allows none"
		}
		findings = append(findings, fmt.Errorf("%s: %s may not set %s; %s (policy.overrides.%s)", layer.Where(strings.Split(path, ".")...), who, path, help, key))
	}
	return errors.Join(findings...)
}

// LayerOf is the layer of a VectorSidecar: the part of its spec that has the keys of
// a values file.
func LayerOf(sidecar *v1alpha1.VectorSidecar) (environment.Layer, error) {
	layer := environment.Layer{Name: describe(sidecar) + " spec", Tree: map[string]any{}}
	spec := &sidecar.Spec
	text, err := json.Marshal(map[string]any{
		"sidecar": spec.Sidecar, "initContainers": spec.InitContainers, "volumes": spec.Volumes, "values": spec.Values,
	})
	if err != nil {
		return layer, fmt.Errorf("%s: %w", describe(sidecar), err)
	}
	if err := json.Unmarshal(text, &layer.Tree); err != nil {
		return layer, fmt.Errorf("%s: %w", describe(sidecar), err)
	}
	for key, value := range layer.Tree {
		if value == nil {
			delete(layer.Tree, key) // Not given, which is not the same as taken away.
		}
	}
	return layer, nil
}
