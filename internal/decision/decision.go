// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision decides how the operator changes the workloads of one VectorSidecar. From an Input, it renders the
// desired sidecars with package desired, and returns a Decision: a plan for each workload with the reason for it. The
// operator, the webhook, the plugin and the tests use it, so that a preview shows the operator's decisions. It does not
// read a clock, and reads ConfigMaps and ServiceAccounts only through the interfaces of an Input.
package decision

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// Decision contains the plans for the workloads of one VectorSidecar, its companions, and the reasons for its status.
type Decision struct {
	// Common is the desired state that all workloads have in common. Its Invalid also has the errors that only the
	// decision finds.
	desired.Common

	// IsWorkloadSpecific reports whether Invalid comes from templates that read the workload. For other workloads the result
	// may differ.
	IsWorkloadSpecific bool
	// Findings are the problems of the Vector configuration, errors first. They include errors that
	// sidecar.config.check allows.
	Findings []vectorconfig.Finding
	// Validations are the configurations that Vector has to check before the plans that wait for them can continue.
	Validations []desired.Validation
	// Plans has a plan for each workload of the snapshot that the VectorSidecar selects or that has its sidecar, sorted
	// by name.
	Plans []plan.Plan
	// IsForDeletion reports whether the VectorSidecar was being deleted when the decision was made. A response to a later
	// write may show a deletion that the decision did not consider.
	IsForDeletion bool
	// LeavesMarks is true if workloads that should not have the sidecar have only marks: its annotations, which other
	// clients copied. The operator removes the marks when the VectorSidecar is deleted. An earlier removal could start a
	// loop with a client that applies the marks again.
	LeavesMarks bool
	// Matched is the number of workloads that the selector matches. Kinds counts them by kind.
	Matched int
	Kinds   Kinds
	// LacksCanary is true if spec.rollout.canary selects none of the workloads.
	LacksCanary bool
	// BlindHalt explains why rollout.halt cannot detect the causes of failures. It is "" if it can, or is not set.
	BlindHalt string
	// Canary is the progress of the canaries, or nil if there are none.
	Canary *v1alpha1.CanaryStatus
	// Retry is the last rollout retry that a user requested, or nil for none.
	Retry *v1alpha1.RetryStatus
	// Deferred summarizes the workloads that wait for spec.rollout.mode. It is nil if there are none. DeferredUntil is the
	// time when the longest wait reaches spec.rollout.maxAge, or zero for never.
	Deferred      *v1alpha1.DeferredStatus
	DeferredUntil time.Time
	// Limit bounds the number of plans with a rollout in progress.
	Limit plan.Limit
	// Companions are all ConfigMaps that the sidecars refer to. Missing are the companions that do not exist or differ.
	// They have to be written before any plan is carried out. A missing companion that exists has its UID.
	Companions, Missing []corev1.ConfigMap
	// Obsolete are the names of companions that no desired sidecar refers to. They may be deleted when no workload can
	// be rolled back to them. HasSettled reports whether Obsolete is complete, because all workloads are ready and
	// writes are not on hold.
	Obsolete   []string
	HasSettled bool

	// Overlays are the sidecars that the API server may inject into workloads when they are written. OverlayBlocker
	// explains why there are none, or is "" if the reason is unknown.
	Overlays       []desired.AdmissionOverlay
	OverlayBlocker string

	// OwnerRemovals are the removals of the sidecar by controller owners that still apply, by kind.
	OwnerRemovals []v1alpha1.OwnerRemoval

	// References are the names of the ConfigMaps that were read.
	References []string

	// RequeueAfter is the time after which another decision is due even without an event. 0 means never.
	RequeueAfter time.Duration
	// Adopted is the content of the rollout in progress, or the zero value.
	Adopted Adopted
	// Waiting are the names of ConfigMaps with new content that is used after the rollout in progress.
	Waiting []string
	// TimedOut reports whether templates ran out of time. A retry may succeed, because the machine may have been busy.
	TimedOut bool

	// Previous is the input for the next decision on the same VectorSidecar.
	Previous *Previous

	// mode is spec.rollout.mode, or nil for Immediate.
	mode *mode
	// claims are the gate inputs of the plans with sidecars that will listen on node ports.
	claims []*gateInput
	// kept has the names of ConfigMaps that must not be deleted, because unchanged sidecars use them.
	kept map[string]bool
}

// Writes reports whether workloads or companions have to be written now.
func (d *Decision) Writes() bool {
	return len(d.Missing) > 0 || slices.ContainsFunc(d.Plans, func(p plan.Plan) bool { return p.Writes() })
}

// ConfigMaps returns the names of the ConfigMaps that the decision depends on, by content or existence.
func (d *Decision) ConfigMaps() []string {
	names := slices.Concat(d.References, slices.Sorted(maps.Keys(d.kept)))
	if d.ReferencedConfigMap != "" {
		names = append(names, d.ReferencedConfigMap)
	}
	for i := range d.Companions {
		names = append(names, d.Companions[i].Name)
	}
	return names
}

// IsInProgress reports whether a rollout is in progress that will finish without a user action: some workloads roll out
// or soak, or wait for other workloads, and no workload has failed. Rejected writes do not count, because they may be
// rejected forever.
func (d *Decision) IsInProgress() bool {
	isMoving := false
	for i := range d.Plans {
		p := &d.Plans[i]
		if p.Rollout.Phase == plan.RolloutFailed || d.Invalid != nil {
			return false
		}
		if p.Rollout.FailedBefore {
			continue
		}
		isNext := p.StartsPods() && p.Rejection == nil && (p.Writes() || p.Block != nil && p.Block.Kind.EndsByItself())
		isMoving = isMoving || p.Desired != nil && p.Change != plan.Remove && (p.Rollout.InFlight || isNext)
	}
	return isMoving
}

// checkAt shortens RequeueAfter, so that the next decision is made at the first of the times. A zero time means never.
func (d *Decision) checkAt(now time.Time, times ...time.Time) {
	for _, t := range times {
		if delay := t.Sub(now); !t.IsZero() && (d.RequeueAfter == 0 || delay < d.RequeueAfter) {
			d.RequeueAfter = max(delay, time.Millisecond)
		}
	}
}

// addFindings adds findings about the Vector configuration without duplicates.
func (d *Decision) addFindings(findings []vectorconfig.Finding) {
	for _, finding := range findings {
		if !slices.Contains(d.Findings, finding) {
			d.Findings = append(d.Findings, finding)
		}
	}
}
