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

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Wait is the record on a workload that waits for a change of its sidecar.
type Wait struct {
	// Since is the time when the wait started, by the clock of the API server in whole seconds.
	Since time.Time
	// Template is the TemplateDigest of the workload at that time. Schema is a digest of the fields of pod
	// templates that the release supports.
	Template uint64
	Schema   uint32
}

// NewWait returns the record of a workload that has waited since a time.
func NewWait(since time.Time, of *State) Wait {
	return Wait{Since: since.Truncate(time.Second), Template: of.Template, Schema: knownFields()}
}

// String returns the text on the workload: TIME/SCHEMA/TEMPLATE.
func (w Wait) String() string {
	return fmt.Sprintf("%s/%08x/%016x", w.Since.UTC().Format(time.RFC3339), w.Schema, w.Template)
}

// IsForeign reports whether a release that supports other fields of pod templates wrote the record. That
// release computes another digest for the same template.
func (w Wait) IsForeign() bool { return w.Schema != knownFields() }

// IsOver reports whether the application has changed the pod template since.
func (w Wait) IsOver(now *State) bool { return !w.IsForeign() && now.Template != w.Template }

// knownFields returns a digest of the fields of a pod template that this release supports. It covers their JSON
// names and their numbers in the protobuf encoding, which TemplateDigest uses.
var knownFields = sync.OnceValue(func() uint32 {
	sum, seen := fnv.New32a(), map[reflect.Type]bool{}
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			add(of.Elem())
		case reflect.Struct:
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				tags := of.Field(i).Tag
				_, _ = fmt.Fprintln(sum, tags.Get("json"), tags.Get("protobuf")) // It never fails.
				add(of.Field(i).Type)
			}
		default:
		}
	}
	add(reflect.TypeFor[corev1.PodTemplateSpec]())
	return sum.Sum32()
})

// parseWait reads the text on a workload.
func parseWait(text string) (Wait, bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 { //nolint:mnd // See String.
		return Wait{}, false
	}
	since, notTime := time.Parse(time.RFC3339, parts[0])
	schema, notSchema := strconv.ParseUint(parts[1], 16, 32)
	template, notDigest := strconv.ParseUint(parts[2], 16, 64)
	return Wait{since, template, uint32(schema)}, notTime == nil && notSchema == nil && notDigest == nil
}

// waitsIn returns the records of a workload by their keys, or nil for none. It ignores malformed records.
func waitsIn(annotations map[string]string) map[string]Wait {
	var found map[string]Wait
	for key, text := range annotations {
		if !meta.IsWaiting(key) {
			continue
		}
		if wait, isOne := parseWait(text); isOne {
			if found == nil {
				found = map[string]Wait{}
			}
			found[key] = wait
		}
	}
	return found
}

// waitsLike reports whether a workload waits as in the previous state. If it waits, the application's pod
// template must also be the same.
func (s *State) waitsLike(before *State) bool {
	return maps.Equal(s.Waits, before.Waits) && (len(s.Waits) == 0 || s.Template == before.Template)
}

// TemplateDigest returns a digest of a pod template without the fields of the operator's managers. It is the
// same in all releases that support the same fields.
func TemplateDigest(template *corev1.PodTemplateSpec, ours map[string]Owned) uint64 {
	kept := *template
	if len(ours) > 0 {
		kept = theirTemplate(template, ours)
	}
	text, err := kept.Marshal()
	if err != nil {
		text = nil // Every value of the type marshals.
	}
	sum := fnv.New64a()
	_, _ = sum.Write(text) // It never fails.
	return sum.Sum64()
}

// theirTemplate returns a copy of a template without the fields of the operator's managers.
func theirTemplate(template *corev1.PodTemplateSpec, ours map[string]Owned) corev1.PodTemplateSpec {
	kept := *template
	kept.Labels = theirKeys(template.Labels, ours, func(of Owned) []string { return of.PodLabels })
	kept.Annotations = theirKeys(template.Annotations, ours, func(of Owned) []string { return of.PodAnnotations })
	spec := &kept.Spec
	spec.InitContainers, spec.Containers = theirContainers(spec.InitContainers, ours), theirContainers(spec.Containers, ours)
	spec.Volumes = slices.DeleteFunc(slices.Clone(spec.Volumes), func(v corev1.Volume) bool { return anyOwns(ours, volumesOf, v.Name) })
	if len(spec.Volumes) == 0 {
		spec.Volumes = nil
	}
	spec.ImagePullSecrets = slices.DeleteFunc(slices.Clone(spec.ImagePullSecrets), func(secret corev1.LocalObjectReference) bool {
		return anyOwns(ours, func(of Owned) []string { return of.PullSecrets }, secret.Name)
	})
	return kept
}

func theirKeys(all map[string]string, ours map[string]Owned, keys func(Owned) []string) map[string]string {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		return strings.HasPrefix(key, meta.Group+"/") || anyOwns(ours, keys, key)
	})
	return kept
}

// theirContainers returns the application's containers, without the mounts of the operator's volumes.
func theirContainers(all []corev1.Container, ours map[string]Owned) []corev1.Container {
	var kept []corev1.Container
	for i := range all {
		if anyOwns(ours, containersOf, all[i].Name) {
			continue
		}
		one := all[i]
		one.VolumeMounts = slices.DeleteFunc(slices.Clone(one.VolumeMounts), func(m corev1.VolumeMount) bool { return anyOwns(ours, volumesOf, m.Name) })
		kept = append(kept, one)
	}
	return kept
}
