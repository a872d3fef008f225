// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// config is a Vector configuration in a ConfigMap of the user. The zero value is none:
// the configuration is rendered.
type config struct {
	// at is the key by which the ConfigMap is looked up: see ConfigMapNamed.
	name, at, key string
	// digest covers everything in the ConfigMap, used or not.
	digest string
	object *corev1.ConfigMap
}

// referencedConfig reads the ConfigMap that the values name.
func referencedConfig(from *sources, values environment.Values) (config, *Invalid) {
	name, key := tree.Text(values.Tree, "sidecar", "config", "configMapRef", "name"), tree.Text(values.Tree, "sidecar", "config", "configMapRef", "key")
	if name == "" {
		return config{}, nil
	}
	at, invalid := from.referenceOf(name)
	found := config{name: name, at: at, key: key}
	if from.LeavesReference || invalid != nil {
		return found, invalid
	}
	namespace := ConfigMapNamed(from.Sidecar.Namespace, at).Namespace
	found.object = from.content(at)
	if found.object == nil {
		return found, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"ConfigMap %s/%s does not exist; it is named by sidecar.config.configMapRef.name (%s)",
			namespace, name, values.Origin("sidecar", "config", "configMapRef", "name"))}
	}
	if _, ok := found.object.Data[key]; !ok {
		return found, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"ConfigMap %s/%s has no key %q; %s", namespace, name, key, keysOf(found.object))}
	}
	found.digest = companion.Digest(found.object)
	return found, nil
}

// referenceOf returns the key of the ConfigMap that the values name, and why it cannot be
// read, if it cannot.
func (s *sources) referenceOf(name string) (at string, invalid *Invalid) {
	cluster := s.Sidecar.Cluster
	switch {
	case cluster == nil || cluster.ConfigMapNamespace != v1alpha1.ConfigMapOfOperator:
		return name, nil
	case s.Home == "":
		return name, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"%s: spec.configMapNamespace is %s, and the operator's namespace is not known", Describe(s.Sidecar), cluster.ConfigMapNamespace)}
	}
	return ConfigMapKey(s.Sidecar.Namespace, types.NamespacedName{Namespace: s.Home, Name: name}), nil
}

// with returns companions and the ConfigMap, if there is one.
func (c *config) with(companions []corev1.ConfigMap) []corev1.ConfigMap {
	if c.object == nil {
		return companions
	}
	return append(slices.Clip(companions), *c.object)
}

func keysOf(object *corev1.ConfigMap) string {
	keys := slices.Sorted(maps.Keys(object.Data))
	for _, key := range slices.Sorted(maps.Keys(object.BinaryData)) {
		keys = append(keys, key+" (binary)")
	}
	if len(keys) == 0 {
		return "it has no keys"
	}
	return "it has " + strings.Join(keys, ", ")
}
