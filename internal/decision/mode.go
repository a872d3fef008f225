// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// mode is spec.rollout.mode, with the conditions under which a workload gets a change at once.
type mode struct {
	setting v1alpha1.RolloutMode
	// maxAge is spec.rollout.maxAge, or 0 if workloads wait forever.
	maxAge time.Duration
	// change is a digest of the requested input, without the values of single workloads.
	change string
	// isPromoted reports whether a user promoted the change. isEverywhere reports whether some workloads have the
	// sidecar and all of them have the current one.
	isPromoted, isEverywhere bool
	// isReverted is true if the VectorSidecar has reverted from a failed spec to the last known good spec.
	isReverted bool
}

// newMode returns the mode for the workloads that should have the sidecar, or nil for Immediate.
func newMode(sidecar *v1alpha1.VectorSidecar, workloads []evaluatedWorkload) *mode {
	m := &mode{setting: sidecar.Spec.RolloutMode(), isReverted: lastgood.IsReverted(sidecar)}
	if m.setting == v1alpha1.ModeImmediate {
		return nil
	}
	if rollout := sidecar.Spec.Rollout; rollout.MaxAge != nil {
		m.maxAge = rollout.MaxAge.Duration
	}
	isBehind := false
	for i := range workloads {
		p := &workloads[i].Evaluated.Plan
		if p.Desired == nil {
			continue
		}
		isBehind = isBehind || p.HasChange(plan.Update) && !p.Write.AtOnce
		m.isEverywhere = m.isEverywhere || p.IsCurrent()
	}
	m.isEverywhere = m.isEverywhere && !isBehind
	m.change = changeDigest(workloads)
	m.isPromoted = isPromoted(sidecar, m.change) || isPromoted(sidecar, v1alpha1.PromotionOfCanary(m.change))
	return m
}

// changeDigest returns a digest of the requested input of the workloads, without the values of single workloads.
func changeDigest(workloads []evaluatedWorkload) string {
	var requested []string
	for i := range workloads {
		if p := &workloads[i].Evaluated.Plan; p.Desired != nil && workloads[i].Source != nil && workloads[i].Source.IsCommon {
			requested = append(requested, p.Desired.RequestDigest())
		}
	}
	slices.Sort(requested)
	requested = slices.Compact(requested)
	switch len(requested) {
	case 0:
		return ""
	case 1:
		return requested[0]
	}
	return meta.Digest([]byte(strings.Join(requested, " ")), len(requested[0])/2) //nolint:mnd // A byte has two hexadecimal digits. The digests are parts of one configuration.
}

// isPromoted reports whether the annotation promote-rollout lists a digest.
func isPromoted(sidecar *v1alpha1.VectorSidecar, digest string) bool {
	return digest != "" && slices.Contains(strings.Split(sidecar.Annotations[meta.AnnotationPromoteRollout], ","), digest)
}

// waitEnd returns the time when a wait since a start time reaches spec.rollout.maxAge, or zero for never.
func (m *mode) waitEnd(start time.Time) time.Time {
	if m.maxAge == 0 {
		return time.Time{}
	}
	return start.Add(m.maxAge)
}

// needsApproval reports whether a workload without the sidecar has to wait for a user's approval.
func (m *mode) needsApproval() bool {
	return m != nil && m.setting == v1alpha1.ModeManual && !m.isPromoted && !m.isEverywhere
}
