// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Rendered is the result of one rendering: the overlay to apply, or the reason why it is invalid. Workloads that are
// equal in the fields that the templates have read share it, so it must not be changed.
type Rendered struct {
	// Desired is the desired sidecar for Overlay. Both are nil if Invalid is set.
	Desired *plan.Desired
	Overlay *workload.Overlay
	// Report is the result of checking the Vector configuration, or nil if it was not checked.
	Report *vectorconfig.Report
	// Companions are the rendered ConfigMaps. Copied is the copy of a referenced ConfigMap, or nil for none.
	Companions []corev1.ConfigMap
	Copied     *ConfigMapCopy
	// Validation is the configuration that Vector itself must validate, or nil for none.
	Validation *Validation
	Invalid    *Invalid
	// TimedOut is true if the templates timed out. The next rendering may succeed.
	TimedOut bool

	// isTemplateError reports whether a template has returned an error.
	isTemplateError bool
	// rendered is the overlay as the templates rendered it. In Overlay, the copy of the referenced ConfigMap replaces
	// the original.
	rendered  *workload.Overlay
	container string
	collects  collection
	// readsUnknown is true if Vector reads configuration that the operator cannot read.
	readsUnknown bool
	// forbidden is the error that lists the configuration that the policy rejects, or nil for none.
	forbidden error
	// readTarget contains the fields of the workload that the templates have read. For a workload with other values in
	// these fields, the result may differ.
	readTarget []tree.Read
	// reserved contains a message for each optional pod annotation that the policy does not allow, and that was
	// therefore removed.
	reserved []string
	// shortened is the warning that the sidecar drains for a shorter time because of the grace period, or "" if it does
	// not.
	shortened string
	// stranded is the warning that the kubelets of some nodes cannot start the pods, or "" if all can.
	stranded string
	// key is the key of the rendering in the cache, or "" if it is not cached. bytes is its approximate size in the
	// cache, including the shared values that were cached for this rendering.
	key   string
	bytes int
	// shared contains the cached values that the rendering uses. It is empty after the rendering itself was cached.
	shared sharedValues
}

// cacheIn caches the rendering under a key. The values that it shares with other renderings have separate cache
// entries.
func (r *Rendered) cacheIn(cache *Cache, key string) {
	shared := r.shared
	r.key, r.shared = key, sharedValues{}
	bytes := bounded.Footprint(r, shared.values...)
	r.bytes = bytes + shared.bytes
	cache.put(key, r, bytes, shared.keys...)
}

// readsTarget reports whether the templates have read fields of the workload, so that the result may differ for other
// workloads.
func (r *Rendered) readsTarget() bool { return len(r.readTarget) > 0 }

// FailsForTarget reports whether a template that has read fields of the workload returned an error. For other
// workloads, the template may succeed.
func (r *Rendered) FailsForTarget() bool { return r.isTemplateError && r.readsTarget() }

// Cleans returns the names of the volumes in which Vector removes files. It returns nil if Vector removes none, or if
// its configuration is unknown.
func (r *Rendered) Cleans() []string {
	if r.Report == nil || r.Overlay == nil {
		return nil
	}
	container := r.Overlay.Container(r.container)
	if container == nil {
		return nil
	}
	var volumes []string
	for _, pattern := range r.Report.Intake.Removed {
		if volume := volumeAt(container, pattern); volume != "" {
			volumes = append(volumes, volume)
		}
	}
	return volumes
}

// Bytes returns the approximate size of the rendering in a Cache, or 0 if it is not cached.
func (r *Rendered) Bytes() int { return r.bytes }

// readKeys returns the keys of the workload's values that the rendering depends on. An annotation of the workload
// records them.
func (r *Rendered) readKeys() []string {
	keys := workload.ValueKeysFor(r.readTarget)
	if r.shortened != "" {
		keys = append(keys, workload.GraceKey)
	}
	if len(r.Overlay.Template.Spec.ImagePullSecrets) > 0 {
		keys = append(keys, workload.PullSecretsKey)
	}
	return keys
}

// warnings returns the warnings about the sidecar in one workload, separated by "; ", or "" for none. envNotInjected
// explains why the API server does not inject environment variables, or is "" if it does. checksOff reports whether
// warnings about the Vector configuration are off.
func (r *Rendered) warnings(manager, envNotInjected string, view *workload.View, checksOff bool) string {
	warnings := slices.Concat(r.reserved, r.Desired.OmittedAnnotations(manager, view))
	if idle := cmp.Or(r.Desired.Warning(), r.collects.idleWarning(view)); idle != "" {
		warnings = append(warnings, idle)
	}
	for _, warning := range []string{r.shortened, r.stranded, r.Desired.EnvInjectionWarning(envNotInjected, view)} {
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	if checksOff {
		return strings.Join(warnings, "; ")
	}
	for _, finding := range r.Report.CheckPod(podForCheck(view, r.Report)) {
		warnings = append(warnings, fmt.Sprintf("the sidecar has a configuration warning: %s", finding))
	}
	return strings.Join(warnings, "; ")
}
