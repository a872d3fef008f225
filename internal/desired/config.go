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
	"k8s.io/apimachinery/pkg/util/validation"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// configReference is the reference to a ConfigMap of the user with the Vector configuration. The zero value means that
// the templates render the configuration.
type configReference struct {
	// lookupKey is the key that identifies the ConfigMap; see ConfigMapNamed.
	name, lookupKey, key string
	// digest is a digest of the whole ConfigMap, including unused keys.
	digest string
	object *corev1.ConfigMap
}

// referencedConfig returns the reference to the ConfigMap that the values name, and reads the ConfigMap. It returns the
// reason if the ConfigMap or its key does not exist.
func referencedConfig(valueSources *sources, values *mergedValues) (configReference, *Invalid) {
	name, key := tree.Text(values.Tree, pathOfReference("name")...), tree.Text(values.Tree, pathOfReference("key")...)
	if name == "" {
		return configReference{}, nil
	}
	lookupKey, invalid := valueSources.referenceKey(name, values)
	referenced := configReference{name: name, lookupKey: lookupKey, key: key}
	if valueSources.LeavesReference || invalid != nil {
		return referenced, invalid
	}
	namespace := ConfigMapNamed(valueSources.Sidecar.Namespace, lookupKey).Namespace
	referenced.object = valueSources.content(lookupKey)
	if referenced.object == nil {
		return referenced, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"ConfigMap %s/%s does not exist (sidecar.config.configMapRef.name, set by %s)",
			namespace, name, values.Origin(pathOfReference("name")...))}
	}
	if _, ok := referenced.object.Data[key]; !ok {
		return referenced, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"ConfigMap %s/%s has no key %q; %s", namespace, name, key, describeKeys(referenced.object))}
	}
	referenced.digest = companion.Digest(referenced.object)
	return referenced, nil
}

// referenceKey returns the lookup key of the ConfigMap that the values refer to, or the reason why the VectorSidecar
// must not read it.
func (s *sources) referenceKey(name string, values *mergedValues) (lookupKey string, invalid *Invalid) {
	source := s.Scope().ConfigMapNamespace
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 { // A name such as "../shop/config" would be a path to another namespace.
		return "", &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"sidecar.config.configMapRef.name: %q (%s) is not a valid name of a ConfigMap: %s", name, values.Origin(pathOfReference("name")...), strings.Join(problems, "; "))}
	}
	if source != v1alpha1.ConfigMapOfOperator {
		return name, nil
	}
	if s.Home == "" {
		return name, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"%s: spec.configMapNamespace is %s, but the namespace of the operator is unknown", Describe(s.Sidecar), source)}
	}
	for _, key := range []string{"name", "key"} {
		if path := pathOfReference(key); values.isSetByOthers(path...) {
			return "", &Invalid{meta.ReasonInvalidValues, fmt.Sprintf(
				"%s: a namespace or a workload must not set %s, because the ConfigMap is in the operator's namespace: spec.configMapNamespace of %s is %s",
				values.Origin(path...), strings.Join(path, "."), Describe(s.Sidecar), source)}
		}
	}
	return ConfigMapKey(s.Sidecar.Namespace, types.NamespacedName{Namespace: s.Home, Name: name}), nil
}

// pathOfReference returns the path of a value below sidecar.config.configMapRef.
func pathOfReference(key string) []string { return []string{"sidecar", "config", "configMapRef", key} }

// appendTo returns the companions, followed by the referenced ConfigMap if there is one.
func (c *configReference) appendTo(companions []corev1.ConfigMap) []corev1.ConfigMap {
	if c.object == nil {
		return companions
	}
	return append(slices.Clip(companions), *c.object)
}

// describeKeys returns a text that lists the keys of a ConfigMap.
func describeKeys(object *corev1.ConfigMap) string {
	keys := slices.Sorted(maps.Keys(object.Data))
	for _, key := range slices.Sorted(maps.Keys(object.BinaryData)) {
		keys = append(keys, key+" (binary)")
	}
	if len(keys) == 0 {
		return "the ConfigMap has no keys"
	}
	return "existing keys: " + strings.Join(keys, ", ")
}
