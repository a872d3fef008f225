// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

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
	// TimedOut reports whether the templates timed out. The next rendering may succeed.
	TimedOut bool

	// isTemplateError reports whether the templates have stopped with an error.
	isTemplateError bool
	// rendered is the overlay that the templates rendered, with references to the original ConfigMap. Overlay
	// refers to the copy instead.
	rendered  *workload.Overlay
	container string
	collects  collection
	// shares reports whether Companions belong to an earlier rendering.
	shares bool
	// isShared reports whether Overlay and Desired belong to an earlier rendering, which counts their memory.
	// askedBytes is the size of the requested input, which is counted for each rendering.
	isShared   bool
	askedBytes int
	// isReadUnseen reports whether Vector reads configuration that the operator cannot read.
	isReadUnseen bool
	// forbidden is the error that lists the configuration that the policy rejects, or nil for none.
	forbidden error
	// readTarget contains the fields of the workload that the templates have read. A workload with other values
	// in these fields may have another result.
	readTarget []tree.Read
	// reserved contains a message for each pod annotation that was omitted because of the policy.
	reserved []string
	// shortened describes the change for a short grace period, or is "" for no change.
	shortened string
	// stranded is a warning that pods cannot start on all nodes, or is "" if they can.
	stranded string
	// cuts contains the variants for short grace periods.
	cuts cuts
	// pullSecretVariants contains the variants for workloads that list some of the sidecar's pull secrets
	// themselves.
	pullSecretVariants pullSecretVariants
	// key is the key of the rendering in the cache, or "" if it is not cached. bytes is its approximate size in
	// the cache.
	key   string
	bytes atomic.Int64
}

// cuts contains the renderings for workloads with a grace period that is shorter than the sidecar's drain time,
// by grace period in seconds.
type cuts struct {
	mu            sync.Mutex
	byGracePeriod map[int64]*Rendered
}

// pullSecretVariants contains the desired states for workloads that list some of the sidecar's pull secrets
// themselves, by the names of these pull secrets. Many workloads list the same names.
type pullSecretVariants struct {
	mu      sync.Mutex
	byNames map[string]*plan.Desired
}

// readsTarget reports whether the templates have read fields of the workload. If so, the result may differ for
// other workloads.
func (r *Rendered) readsTarget() bool { return len(r.readTarget) > 0 }

// FailsForTarget reports whether templates that have read the workload have stopped with an error. For other workloads,
// the templates may succeed.
func (r *Rendered) FailsForTarget() bool { return r.isTemplateError && r.readsTarget() }

// Cleans returns the names of the volumes in which Vector removes files. It returns nil if Vector's
// configuration is unknown.
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
func (r *Rendered) Bytes() int { return int(r.bytes.Load()) }

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

// doubts returns warnings about the sidecar in one workload, or "" for none.
func (r *Rendered) doubts(manager, envNotInjected string, view *workload.View, checksOff bool) string {
	warnings := slices.Concat(r.reserved, r.Desired.OmittedAnnotations(manager, view))
	if idle := cmp.Or(r.Desired.Warning(), r.collects.idleness(view)); idle != "" {
		warnings = append(warnings, idle)
	}
	for _, doubt := range []string{r.shortened, r.stranded, r.Desired.EnvInjectionWarning(envNotInjected, view)} {
		if doubt != "" {
			warnings = append(warnings, doubt)
		}
	}
	if checksOff {
		return strings.Join(warnings, "; ")
	}
	for _, finding := range r.Report.CheckPod(podForCheck(view, r.Report)) {
		warnings = append(warnings, fmt.Sprintf("has a doubtful configuration: %s", finding))
	}
	return strings.Join(warnings, "; ")
}
