// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/cause"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// largestCopy is how many bytes the values of a ConfigMap may have.
const largestCopy = 1 << 20

// copied is what a sidecar is given of a referenced ConfigMap in place of the ConfigMap
// itself: what is mounted has passed the check, and stays when its origin turns bad. It
// holds no content, so that a Memo does not either.
type copied struct {
	name, digest string
	keys         []string
	// content has digests of what is in each key.
	content map[string]any
}

// copyOf returns what a sidecar needs of the referenced ConfigMap, and the overlay with
// the copy in its place; nil if the overlay does not use it.
func (b *batch) copyOf(overlay *render.Overlay, of *wanted) (*copied, *render.Overlay, *Invalid) {
	uses := usesOf(overlay, of.container, b.config.object)
	if !uses.any {
		return nil, overlay, nil
	}
	made := &copied{keys: b.keysOf(uses, of)}
	object := b.config.companion(made, &b.request)
	if size := sizeOf(object); size > largestCopy {
		return nil, overlay, &Invalid{meta.ReasonInvalidConfig, fmt.Sprintf(
			"ConfigMap %s/%s: the sidecar needs %d bytes of it (%s), and a copy, which is what is mounted, holds %d at most: give what is large by a volume of its own (spec.volumes)",
			object.Namespace, b.config.name, size, strings.Join(made.keys, ", "), largestCopy)}
	}
	made.digest, made.content = companion.Digest(object), cause.ConfigMap(object)
	made.name = companion.Name(b.request.Sidecar.Name, made.digest)
	if b.request.Reloads() { // Of one name, whatever its content.
		made.name = companion.Name(b.request.Sidecar.Name, b.config.name+"/"+b.config.key)
	}
	redirected, err := overlay.Redirected(b.config.name, made.name)
	if err != nil {
		return nil, overlay, &Invalid{meta.ReasonInvalidSidecar, err.Error()}
	}
	return made, &redirected, nil
}

// keysOf are the keys that a sidecar needs: the one that the values name, those that
// the overlay names, and those that the configuration may read.
func (b *batch) keysOf(uses *uses, of *wanted) []string {
	object := b.config.object
	needed := map[string]bool{b.config.key: true}
	maps.Copy(needed, uses.keys)
	for _, file := range of.report.Beside {
		needed[uses.files[file]] = true
	}
	isAll := uses.all || of.isReadUnseen
	return slices.DeleteFunc(allKeys(object), func(key string) bool { return !isAll && !needed[key] })
}

// companion returns the copy. Its content is that of the ConfigMap now.
func (c *config) companion(of *copied, request *render.Request) *corev1.ConfigMap {
	sidecar := request.Sidecar
	object := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sidecar.Namespace, Name: of.name,
			Labels: map[string]string{
				"app.kubernetes.io/name": "vector", "app.kubernetes.io/component": "sidecar",
				"app.kubernetes.io/instance": strings.Trim(sidecar.Name[:min(len(sidecar.Name), 63)], "-._"),
			},
		},
		Immutable: ptr.To(!request.Reloads()),
	}
	companion.Label(object, sidecar.Name)
	for _, key := range of.keys {
		c.copyKey(object, key)
	}
	return object
}

func (c *config) copyKey(into *corev1.ConfigMap, key string) {
	if text, ok := c.object.Data[key]; ok {
		if into.Data == nil {
			into.Data = map[string]string{}
		}
		into.Data[key] = text
	}
	if data, ok := c.object.BinaryData[key]; ok {
		if into.BinaryData == nil {
			into.BinaryData = map[string][]byte{}
		}
		into.BinaryData[key] = data
	}
}

// sizeOf is what the API server counts against its limit.
func sizeOf(object *corev1.ConfigMap) int {
	size := 0
	for _, text := range object.Data {
		size += len(text)
	}
	for _, data := range object.BinaryData {
		size += len(data)
	}
	return size
}

func allKeys(object *corev1.ConfigMap) []string {
	keys := slices.Concat(slices.Collect(maps.Keys(object.Data)), slices.Collect(maps.Keys(object.BinaryData)))
	slices.Sort(keys)
	return keys
}

// need notes a companion, each name once, and returns the one that is noted.
func (d *Decision) need(fresh *corev1.ConfigMap) *corev1.ConfigMap {
	for i := range d.Companions {
		if known := &d.Companions[i]; known.Name == fresh.Name {
			return known
		}
	}
	d.Companions = append(d.Companions, *fresh)
	return &d.Companions[len(d.Companions)-1]
}

// needCopy notes the copy that a rendering is given. Where copies have one name whatever
// their content, one workload may need more keys than another.
func (d *Decision) needCopy(of *copied, from *batch) {
	known := d.need(from.config.companion(of, &from.request))
	for _, key := range of.keys {
		from.config.copyKey(known, key)
	}
}
