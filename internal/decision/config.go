// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// config is a Vector configuration in a ConfigMap of the user's. Its zero value
// says that there is none, because the configuration is a companion.
type config struct {
	name, key, digest string
	object            *corev1.ConfigMap
}

// referencedConfig finds the ConfigMap that the values name.
func referencedConfig(snapshot *Snapshot, values environment.Values) (config, *Invalid) {
	name, key := value(values, "sidecar", "config", "configMapRef", "name"), value(values, "sidecar", "config", "configMapRef", "key")
	if name == "" {
		return config{}, nil
	}
	namespace := snapshot.Sidecar.Namespace
	found := config{name: name, key: key, object: snapshot.ConfigMap(name)}
	if found.object == nil {
		return found, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"ConfigMap %s/%s does not exist; it is named by sidecar.config.configMapRef.name (%s)",
			namespace, name, values.Origin("sidecar", "config", "configMapRef", "name"))}
	}
	if _, ok := found.object.Data[key]; !ok {
		return found, &Invalid{meta.ReasonConfigMapNotFound, fmt.Sprintf(
			"ConfigMap %s/%s has no key %q; %s", namespace, name, key, keysOf(found.object))}
	}
	found.digest = digest(found.object)
	return found, nil
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

// digest covers all data of a ConfigMap: a configuration may refer to the other
// keys as files.
func digest(object *corev1.ConfigMap) string {
	// Maps of strings and bytes always marshal, and in the order of their keys.
	text, _ := json.Marshal([]any{object.Data, object.BinaryData})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// value reads a string from the values, "" if there is none.
func value(values environment.Values, path ...string) string {
	text, _ := at(values, path...).(string)
	return text
}

// at reads any value, nil if there is none.
func at(values environment.Values, path ...string) any {
	var node any = values.Tree
	for _, key := range path {
		branch, _ := node.(map[string]any)
		node = branch[key]
	}
	return node
}
