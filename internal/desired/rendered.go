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

// Rendered is the result of one rendering: the overlay to apply, or why it is invalid. Workloads
// that are equal for the templates share it. It must not be changed.
type Rendered struct {
	// Desired is the state to apply, made from Overlay. Both are nil if Invalid is set.
	Desired *plan.Desired
	Overlay *workload.Overlay
	// Report is the check of the Vector configuration, nil if there was none.
	Report *vectorconfig.Report
	// Companions are the rendered ConfigMaps. Copied is the copy of a referenced ConfigMap, nil for
	// none.
	Companions []corev1.ConfigMap
	Copied     *ConfigMapCopy
	// Validation is the configuration that Vector itself must validate, nil for none.
	Validation *Validation
	Invalid    *Invalid
	// TimedOut reports whether the templates ran out of time, which may not happen again.
	TimedOut bool

	// rendered is the overlay as the templates rendered it. It refers to the original ConfigMap,
	// while Overlay refers to the copy.
	rendered  *workload.Overlay
	container string
	collects  collection
	// shares reports whether the companions belong to an earlier rendering.
	shares bool
	// isShared reports whether Overlay and Desired belong to an earlier rendering, which counts
	// their memory. askedBytes is the size of the requested input, which each rendering counts
	// itself.
	isShared   bool
	askedBytes int
	// isReadUnseen reports whether Vector reads configuration that the operator cannot read.
	isReadUnseen bool
	// forbidden lists the configuration that the policy rejects, nil for none.
	forbidden error
	// readTarget lists the fields of the target that were read. A workload that differs in these
	// fields may have a different result.
	readTarget []tree.Read
	// reserved lists the pod annotations that are left out because of the policy.
	reserved []string
	// shortened describes the change for a short grace period, "" for no change.
	shortened string
	// stranded warns that pods do not start on all nodes, "" if they do.
	stranded string
	// cuts are the variants for short grace periods.
	cuts cuts
	// pullSecretVariants has the variants for workloads that list some of the pull secrets themselves.
	pullSecretVariants pullSecretVariants
	// key is the key in the cache, "" if the result is not cached. bytes is its approximate size
	// there.
	key   string
	bytes atomic.Int64
}

// cuts are the renderings for workloads with a grace period that is shorter than the sidecar's
// preStop sleep, by grace period in seconds.
type cuts struct {
	mu            sync.Mutex
	byGracePeriod map[int64]*Rendered
}

// pullSecretVariants are the desired states of workloads that list some of the pull secrets themselves, by the
// names of these. Many workloads list the same.
type pullSecretVariants struct {
	mu      sync.Mutex
	byNames map[string]*plan.Desired
}

// ReadsTarget reports whether templates have read the workload, so that the result may differ for
// other workloads.
func (r *Rendered) ReadsTarget() bool { return len(r.readTarget) > 0 }

// Cleans returns the names of the volumes from which Vector removes files, if its configuration is
// known.
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

// Bytes returns the approximate size in a Cache, 0 if the result is not cached.
func (r *Rendered) Bytes() int { return int(r.bytes.Load()) }

// readKeys returns the keys of the target that were read, for the annotation on workloads.
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

// doubts returns warnings about the sidecar in one workload, "" if there are none.
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
