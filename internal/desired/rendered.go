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

// Rendered is the result of one rendering: the overlay to apply, or the reason why it is invalid. Workloads
// that are equal for the templates share it. It must not be changed.
type Rendered struct {
	// Desired is the desired state that is computed from Overlay. Both are nil if Invalid is set.
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

	// isTemplateError reports whether the templates have stopped with an error.
	isTemplateError bool
	// rendered is the overlay that the templates rendered, with references to the original ConfigMap. Overlay
	// refers to the copy instead.
	rendered  *workload.Overlay
	container string
	collects  collection
	// readsUnknown is true if Vector reads configuration that the operator cannot read.
	readsUnknown bool
	// forbidden is the error that lists the configuration that the policy rejects, or nil for none.
	forbidden error
	// readTarget contains the fields of the workload that the templates have read. A workload with other values
	// in these fields may have another result.
	readTarget []tree.Read
	// reserved contains a message for each pod annotation that was omitted because of the policy.
	reserved []string
	// shortened is the warning about a drain time that was limited to the grace period, or "" for none.
	shortened string
	// stranded is the warning that pods cannot start on all nodes, or "" if they can.
	stranded string
	// key is the key of the rendering in the cache, or "" if it is not cached. bytes is its approximate size in
	// the cache. It includes the shared values that were cached for this rendering.
	key   string
	bytes int
	// shared contains the cached values that the rendering uses, until it is cached itself.
	shared sharedValues
}

// cacheIn caches the rendering. The values that it shares with other renderings have their own entries.
func (r *Rendered) cacheIn(cache *Cache, key string) {
	shared := r.shared
	r.key, r.shared = key, sharedValues{}
	bytes := bounded.Footprint(r, shared.values...)
	r.bytes = bytes + shared.bytes
	cache.put(key, r, bytes, shared.keys...)
}

// readsTarget reports whether the templates have read fields of the workload. If so, the result may differ for
// other workloads.
func (r *Rendered) readsTarget() bool { return len(r.readTarget) > 0 }

// FailsForTarget reports whether templates that have read the workload have stopped with an error. For other workloads,
// the templates may succeed.
func (r *Rendered) FailsForTarget() bool { return r.isTemplateError && r.readsTarget() }

// Cleans returns the names of the volumes in which Vector removes files. It returns nil if Vector's configuration is
// unknown.
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

// Bytes returns the approximate size in a Cache, or 0 if the rendering is not cached.
func (r *Rendered) Bytes() int { return r.bytes }

// readKeys returns the keys of the workload's values that the rendering depends on, for an annotation of
// workloads.
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

// warnings returns warnings about the sidecar in one workload, separated by "; ", or "" for none.
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
		warnings = append(warnings, fmt.Sprintf("has a configuration warning: %s", finding))
	}
	return strings.Join(warnings, "; ")
}
