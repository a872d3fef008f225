// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Wait records that a workload waits for a change of its sidecar. An annotation of the workload contains the record.
type Wait struct {
	// StartedAt is the time when the wait started, in whole seconds, from the clock of the API server.
	StartedAt time.Time
	// Template is the TemplateDigest of the workload when the wait started. Schema is a digest of the pod
	// template fields that the release supports.
	Template uint64
	Schema   uint32
}

// NewWait returns the record of a workload that has waited since a start time. state is its current state.
func NewWait(start time.Time, state *State) Wait {
	return Wait{StartedAt: start.Truncate(time.Second), Template: state.Template, Schema: knownFields()}
}

// String returns the value of the annotation: TIME/SCHEMA/TEMPLATE.
func (w Wait) String() string {
	return fmt.Sprintf("%s/%08x/%016x", w.StartedAt.UTC().Format(time.RFC3339), w.Schema, w.Template)
}

// IsForeign reports whether the record is from a release that supports other pod template fields, which computes
// another digest for the same template.
func (w Wait) IsForeign() bool { return w.Schema != knownFields() }

// IsOver reports whether the application's pod template has changed since the wait started. It returns false if
// IsForeign is true, because the digests then cannot be compared.
func (w Wait) IsOver(current *State) bool { return !w.IsForeign() && current.Template != w.Template }

// knownFields returns a digest of the pod template fields that this release supports. The digest covers the
// JSON names and the protobuf numbers of the fields, because TemplateDigest uses the protobuf encoding.
var knownFields = sync.OnceValue(func() uint32 {
	sum, visited := fnv.New32a(), map[reflect.Type]bool{}
	var add func(typ reflect.Type)
	add = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			add(typ.Elem())
		case reflect.Struct:
			if visited[typ] {
				return
			}
			visited[typ] = true
			for i := range typ.NumField() {
				tags := typ.Field(i).Tag
				_, _ = fmt.Fprintln(sum, tags.Get("json"), tags.Get("protobuf")) // It never fails.
				add(typ.Field(i).Type)
			}
		default:
		}
	}
	add(reflect.TypeFor[corev1.PodTemplateSpec]())
	return sum.Sum32()
})

// parseWait parses the value of the annotation. It returns false if the value is malformed.
func parseWait(text string) (Wait, bool) {
	fields := strings.Split(text, "/")
	if len(fields) != 3 { //nolint:mnd // See String.
		return Wait{}, false
	}
	start, notTime := time.Parse(time.RFC3339, fields[0])
	schema, notSchema := strconv.ParseUint(fields[1], 16, 32)
	template, notDigest := strconv.ParseUint(fields[2], 16, 64)
	return Wait{start, template, uint32(schema)}, notTime == nil && notSchema == nil && notDigest == nil
}

// readWaits returns the wait records in a workload's annotations by key, or nil for none. It ignores malformed
// records.
func readWaits(annotations map[string]string) map[string]Wait {
	var waits map[string]Wait
	for key, text := range annotations {
		if !meta.IsWaiting(key) {
			continue
		}
		if wait, ok := parseWait(text); ok {
			if waits == nil {
				waits = map[string]Wait{}
			}
			waits[key] = wait
		}
	}
	return waits
}

// hasSameWaits reports whether the workload waits for the same changes as in the previous state, and, if it waits,
// still has the same application template.
func (s *State) hasSameWaits(previous *State) bool {
	return maps.Equal(s.Waits, previous.Waits) && (len(s.Waits) == 0 || s.Template == previous.Template)
}

// TemplateDigest returns a digest of a pod template without the fields of the operator's managers. All releases
// that support the same pod template fields return the same digest.
func TemplateDigest(template *corev1.PodTemplateSpec, owned map[string]OwnedFields) uint64 {
	if len(owned) > 0 {
		stripped := applicationTemplate(template, owned)
		template = &stripped
	}
	// The encoding is needed only here, and every event of a workload computes it.
	allocator, _ := runtime.AllocatorPool.Get().(*runtime.Allocator)
	defer runtime.AllocatorPool.Put(allocator)
	text := allocator.Allocate(uint64(template.Size())) //nolint:gosec // a size is not negative
	if _, err := template.MarshalToSizedBuffer(text); err != nil {
		text = nil // Every value of the type marshals.
	}
	sum := fnv.New64a()
	_, _ = sum.Write(text) // It never fails.
	return sum.Sum64()
}

// applicationTemplate returns a copy of a pod template without the fields of the operator's managers.
func applicationTemplate(template *corev1.PodTemplateSpec, owned map[string]OwnedFields) corev1.PodTemplateSpec {
	stripped := *template
	stripped.Labels = applicationKeys(template.Labels, owned, func(o OwnedFields) []string { return o.PodLabels })
	stripped.Annotations = applicationKeys(template.Annotations, owned, func(o OwnedFields) []string { return o.PodAnnotations })
	spec := &stripped.Spec
	spec.InitContainers, spec.Containers = applicationContainersIn(spec.InitContainers, owned), applicationContainersIn(spec.Containers, owned)
	spec.Volumes = slices.DeleteFunc(slices.Clone(spec.Volumes), func(v corev1.Volume) bool { return anyOwns(owned, ownedVolumes, v.Name) })
	if len(spec.Volumes) == 0 {
		spec.Volumes = nil
	}
	spec.ImagePullSecrets = slices.DeleteFunc(slices.Clone(spec.ImagePullSecrets), func(secret corev1.LocalObjectReference) bool {
		return anyOwns(owned, func(o OwnedFields) []string { return o.PullSecrets }, secret.Name)
	})
	return stripped
}

// applicationKeys returns the labels or annotations that do not belong to the operator. keys returns the keys that a
// manager owns.
func applicationKeys(source map[string]string, owned map[string]OwnedFields, keys func(OwnedFields) []string) map[string]string {
	result := maps.Clone(source)
	maps.DeleteFunc(result, func(key, _ string) bool {
		return strings.HasPrefix(key, meta.Group+"/") || anyOwns(owned, keys, key)
	})
	return result
}

// applicationContainersIn returns the application's containers without mounts of the operator's volumes.
func applicationContainersIn(containers []corev1.Container, owned map[string]OwnedFields) []corev1.Container {
	var result []corev1.Container
	for i := range containers {
		if anyOwns(owned, ownedContainers, containers[i].Name) {
			continue
		}
		reduced := containers[i]
		reduced.VolumeMounts = slices.DeleteFunc(slices.Clone(reduced.VolumeMounts), func(m corev1.VolumeMount) bool { return anyOwns(owned, ownedVolumes, m.Name) })
		result = append(result, reduced)
	}
	return result
}
