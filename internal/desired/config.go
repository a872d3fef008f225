// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// config is a Vector configuration in a ConfigMap of the user. The zero value is none:
// the configuration is rendered.
type config struct {
	name, key string
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
	if from.LeavesReference {
		return config{name: name, key: key}, nil
	}
	namespace := from.Sidecar.Namespace
	found := config{name: name, key: key, object: from.content(name)}
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
