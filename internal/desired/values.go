// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// values returns the values merged from the layers of the environment, the namespace, the VectorSidecar and the
// overrides. All namespaces without defaults share the cached values of a ClusterVectorSidecar, until its spec or the
// environment changes.
func (s *sources) values(cache *Cache, set *TemplateSet, name string, overrides ...environment.Layer) (mergedValues, *Invalid) {
	namespace, err := s.namespaceLayers()
	if err != nil {
		return mergedValues{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	text, err := specText(s.Sidecar)
	if err != nil {
		return mergedValues{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	isRead := s.reader.reserve(len(text)) // If the Reader has stopped, callers do not use the result.
	isShared := cache != nil && isRead && meta.IsOfCluster(s.Sidecar.Name) && len(namespace)+len(overrides) == 0 && len(text) <= maxSharedSpecBytes
	var key []byte
	if isShared {
		key = fmt.Appendf(nil, "%q %q %s", name, describeSpec(s.Sidecar), text)
		if cached := getCached[mergedValues](cache, key); cached.environments != nil && cached.environments == set.Environments {
			return cached, nil
		}
	}
	layer := environment.Layer{}
	if isRead {
		if layer, err = parseLayer(s.Sidecar, text); err != nil {
			return mergedValues{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
		}
	}
	result := mergedValues{layers: layers{namespace: namespace, sidecar: []environment.Layer{layer}, workload: overrides}, environments: set.Environments}
	result.Values, err = set.Environments.Values(name, result.layers.list()...)
	var unknownEnvironment *environment.UnknownError
	switch {
	case errors.As(err, &unknownEnvironment):
		return result, &Invalid{meta.ReasonUnknownEnvironment, fmt.Sprintf("%s: %s", Describe(s.Sidecar), err)}
	case err != nil:
		return result, &Invalid{meta.ReasonInvalidValues, fmt.Sprintf("values for environment %q: %s", name, err)}
	}
	result.digest = digestValues(result.Values)
	if isShared {
		cache.put(string(key), result, bounded.Footprint(result.Tree)+bounded.Footprint(layer))
	}
	return result, nil
}

// namespaceLayers returns the layer with the namespace's default values, or nil if the namespace has none.
func (s *sources) namespaceLayers() ([]environment.Layer, error) {
	object := s.content(meta.NamespaceDefaults)
	if object == nil {
		return nil, nil
	}
	source := fmt.Sprintf("ConfigMap %s/%s", s.Sidecar.Namespace, meta.NamespaceDefaults)
	text, ok := object.Data[meta.NamespaceDefaultsKey]
	if !ok {
		return nil, fmt.Errorf("%s has no key %q; %s", source, meta.NamespaceDefaultsKey, describeKeys(object))
	}
	source += " " + meta.NamespaceDefaultsKey
	if isBlank(text) {
		return nil, nil
	}
	if err := s.Platform.Policy.CheckEach(func(rules *policy.Policy) error { return namespaceOverrides(rules).checkPath(source, "") }); err != nil {
		return nil, err
	}
	layer, err := environment.ParseOverrides(source, []byte(text))
	if err != nil {
		return nil, err
	}
	return []environment.Layer{layer}, s.Platform.Policy.CheckEach(func(rules *policy.Policy) error { return namespaceOverrides(rules).check(&layer) })
}

// isBlank reports whether a text contains no values, but only whitespace and comments. The policy always allows such a
// text.
func isBlank(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && line != "{}" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// workloadLayers returns one layer for each value that the annotations of a workload set, sorted by path.
func (s *sources) workloadLayers(view *workload.View) ([]environment.Layer, error) {
	var layers []environment.Layer
	rules := s.Platform.Policy
	for _, path := range slices.Sorted(maps.Keys(view.Overrides)) {
		source := fmt.Sprintf("annotation %s%s", meta.AnnotationValuesPrefix, path)
		if err := rules.CheckEach(func(rules *policy.Policy) error { return workloadOverrides(rules).checkPath(source, path) }); err != nil {
			return nil, err
		}
		text := view.Overrides[path]
		if !s.reader.reserve(len(text)) {
			return nil, s.reader.err
		}
		layer, err := environment.ParseValue(source, path, []byte(text))
		if err == nil {
			err = rules.CheckEach(func(rules *policy.Policy) error { return workloadOverrides(rules).check(&layer) })
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// overrideRules are the rules of the policy for values that namespaces, or workloads, may set.
type overrideRules struct {
	subject string
	// key is the key in policy.overrides that lists the allowed paths.
	key     string
	allowed []string
}

// namespaceOverrides returns the rules for values that namespaces may set.
func namespaceOverrides(rules *policy.Policy) *overrideRules {
	return &overrideRules{subject: "a namespace", key: "namespaces", allowed: rules.Overrides.Namespaces}
}

// workloadOverrides returns the rules for values that workloads may set.
func workloadOverrides(rules *policy.Policy) *overrideRules {
	return &overrideRules{subject: "a workload", key: "workloads", allowed: rules.Overrides.Workloads}
}

// checkPath returns an error if the policy allows no value at a path or below it. The path "" stands for all values. It
// is called before the value is parsed, so that forbidden values are not parsed.
func (o *overrideRules) checkPath(source, path string) error {
	if environment.MaySet(path, o.allowed) {
		return nil
	}
	return o.newError(source, cmp.Or(path, "values"))
}

// check returns an error if a layer sets values that the policy does not allow.
func (o *overrideRules) check(layer *environment.Layer) error {
	var findings []error
	for _, path := range layer.DisallowedPaths(o.allowed) {
		findings = append(findings, o.newError(layer.Position(strings.Split(path, ".")...), path))
	}
	return errors.Join(findings...)
}

// newError returns the error for a path that must not be set.
func (o *overrideRules) newError(location, path string) error {
	help := "the platform allows none"
	if len(o.allowed) > 0 {
		help = "the platform allows " + strings.Join(o.allowed, ", ")
	}
	return fmt.Errorf("%s: %s may not set %s; %s (policy.overrides.%s)", location, o.subject, path, help, o.key)
}

// LayerFor returns the layer of values that a VectorSidecar sets: the fields of its spec that are also keys of a values
// file. For a ClusterVectorSidecar, the layer is the same in all namespaces.
func LayerFor(sidecar *v1alpha1.VectorSidecar) (environment.Layer, error) {
	text, err := specText(sidecar)
	if err != nil {
		return environment.Layer{}, err
	}
	return parseLayer(sidecar, text)
}

// specText returns the fields of the spec that are also keys of a values file, encoded as JSON.
func specText(sidecar *v1alpha1.VectorSidecar) ([]byte, error) {
	spec := &sidecar.Spec
	text, err := json.Marshal(map[string]any{
		"sidecar": spec.Sidecar, "initContainers": spec.InitContainers, "volumes": spec.Volumes, "values": spec.Values,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Describe(sidecar), err)
	}
	return text, nil
}

// describeSpec returns the name of a VectorSidecar's spec for messages.
func describeSpec(sidecar *v1alpha1.VectorSidecar) string {
	return meta.OwnTitle(sidecar.Namespace, sidecar.Name) + " spec"
}

// parseLayer parses the result of specText.
func parseLayer(sidecar *v1alpha1.VectorSidecar, text []byte) (environment.Layer, error) {
	layer := environment.Layer{Name: describeSpec(sidecar), Tree: map[string]any{}}
	var limitErr *bounded.Error
	switch err := bounded.Spec().DecodeJSON(text, &layer.Tree); {
	case errors.As(err, &limitErr): // Error would add a line number, which the spec does not have.
		return layer, fmt.Errorf("%s: %s", layer.Name, limitErr.Text())
	case err != nil:
		return layer, fmt.Errorf("%s: %w", layer.Name, err)
	}
	for key, value := range layer.Tree {
		if value == nil {
			delete(layer.Tree, key) // A field that is not set must not remove the value of a lower layer, as null does.
		}
	}
	return layer, nil
}
