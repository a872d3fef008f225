// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// maxCopyBytes is the maximum size of the content of a copied ConfigMap in bytes.
const maxCopyBytes = 1 << 20

// ConfigMapCopy describes the copy of a referenced ConfigMap that a sidecar mounts. The checks have accepted the
// content of the copy, and the copy stays when the original becomes invalid. ConfigMapCopy does not contain that
// content, so that a Cache does not store it.
type ConfigMapCopy struct {
	Name, Digest string
	// Keys are the sorted keys that are copied.
	Keys []string
	// isLive reports whether the copy keeps its name when its content changes.
	isLive bool
	// content contains digests of the content by key.
	content map[string]any
}

// newConfigMapCopy returns the copy of the referenced ConfigMap that a sidecar needs, and an overlay that mounts the
// copy instead of the original. The copy is nil if the overlay does not use the ConfigMap. readsUnknownFiles reports
// whether Vector reads configuration that the operator cannot read; all keys are then copied.
func newConfigMapCopy(source *configReference, request *render.Request, overlay *workload.Overlay, uses *configMapUse, report *vectorconfig.Report, readsUnknownFiles bool) (*ConfigMapCopy, *workload.Overlay, *Invalid) {
	if !uses.isUsed {
		return nil, overlay, nil
	}
	configMapCopy := &ConfigMapCopy{Keys: source.neededKeys(uses, report, readsUnknownFiles), isLive: request.Reloads()}
	object := configMapCopy.NewConfigMap(source.object, request.Sidecar)
	if size := configMapSize(object); size > maxCopyBytes {
		return nil, overlay, &Invalid{meta.ReasonInvalidConfig, fmt.Sprintf(
			"ConfigMap %s/%s: the sidecar needs %d bytes of its content (%s), but the mounted copy is limited to %d bytes; put large files into a separate volume (spec.volumes)",
			object.Namespace, source.name, size, strings.Join(configMapCopy.Keys, ", "), maxCopyBytes)}
	}
	configMapCopy.Digest, configMapCopy.content = companion.Digest(object), plan.ConfigMapDigests(object)
	configMapCopy.Name = companion.GenerateName(meta.ObjectName(request.Sidecar.Name), configMapCopy.Digest)
	if configMapCopy.isLive { // The name does not depend on the content.
		configMapCopy.Name = companion.GenerateName(meta.ObjectName(request.Sidecar.Name), source.name+"/"+source.key)
	}
	redirected, err := overlay.RedirectConfigMap(source.name, configMapCopy.Name)
	if err != nil {
		return nil, overlay, &Invalid{meta.ReasonInvalidSidecar, err.Error()}
	}
	return configMapCopy, &redirected, nil
}

// neededKeys returns the keys of the ConfigMap that a sidecar needs: the key that the values name, the keys that the
// overlay names, and the keys that the Vector configuration may read.
func (c *configReference) neededKeys(uses *configMapUse, report *vectorconfig.Report, readsUnknownFiles bool) []string {
	needed := map[string]bool{c.key: true}
	maps.Copy(needed, uses.keys)
	for _, file := range report.UsedFiles {
		needed[uses.files[file]] = true
	}
	isAll := uses.needsAllKeys || readsUnknownFiles
	return slices.DeleteFunc(allKeys(c.object), func(key string) bool { return !isAll && !needed[key] })
}

// NewConfigMap returns the ConfigMap of the copy for a VectorSidecar. Its content is the current content of the
// original.
func (c *ConfigMapCopy) NewConfigMap(object *corev1.ConfigMap, sidecar types.NamespacedName) *corev1.ConfigMap {
	instance := meta.ObjectName(sidecar.Name)
	configMap := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sidecar.Namespace, Name: c.Name,
			Labels: map[string]string{
				"app.kubernetes.io/name": "vector", "app.kubernetes.io/component": "sidecar",
				"app.kubernetes.io/instance": strings.Trim(instance[:min(len(instance), 63)], "-._"),
			},
		},
		Immutable: ptr.To(!c.isLive),
	}
	companion.Label(configMap, sidecar.Name)
	c.AddTo(configMap, object)
	return configMap
}

// AddTo adds the keys of this copy to another copy of the same original. Copies with the same name may have different
// keys for different workloads, and one ConfigMap must have all of them.
func (c *ConfigMapCopy) AddTo(target, object *corev1.ConfigMap) {
	for _, key := range c.Keys {
		copyKey(target, object, key)
	}
}

// copyKey copies the text or the bytes of one key between ConfigMaps.
func copyKey(into, from *corev1.ConfigMap, key string) {
	if text, ok := from.Data[key]; ok {
		if into.Data == nil {
			into.Data = map[string]string{}
		}
		into.Data[key] = text
	}
	if data, ok := from.BinaryData[key]; ok {
		if into.BinaryData == nil {
			into.BinaryData = map[string][]byte{}
		}
		into.BinaryData[key] = data
	}
}
