// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision decides what to do for one VectorSidecar, given the facts and what
// its workloads should carry. The result is plans with their reasons. It reads no
// cluster and no clock, and renders nothing.
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
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Decision is what to do, and why.
type Decision struct {
	// Environment is the one whose values are used, EnvironmentFrom what named it, and
	// TemplateSet the template set.
	Environment, EnvironmentFrom, TemplateSet string
	// ReferencedConfigMap is the name of the ConfigMap that the Vector configuration is
	// copied from, "" if it is rendered. It is set even if that ConfigMap does not
	// exist.
	ReferencedConfigMap string
	// Invalid says why nothing may be injected, nil if it may.
	Invalid *desired.Invalid
	// OfWorkloads reports whether Invalid comes from templates that had read the
	// workloads: for others the result may differ.
	OfWorkloads bool
	// Findings are the problems of the Vector configuration, errors first, including
	// errors that sidecar.config.check lets through.
	Findings []vectorconfig.Finding
	// Validations are the configurations that Vector has to check before the plans
	// waiting for them go on.
	Validations []desired.Validation
	// Outdated says what is wrong with a template set or policy whose last good version
	// was used; nil if nothing is.
	Outdated *desired.Invalid
	// Plans has a plan for each workload of the snapshot that the VectorSidecar matches
	// or that carries its sidecar, by name.
	Plans []plan.Plan
	// LeavesMarks reports whether workloads that should not have the sidecar have nothing but marks of it, which others
	// have copied. They are removed when the VectorSidecar is deleted: until then, whoever applies them again would be
	// in a loop with the operator.
	LeavesMarks bool
	// Matched is how many of them the selector matches, Kinds are their kinds.
	Matched int
	Kinds   Kinds
	// LacksCanary reports whether spec.rollout.canary selects none of the workloads.
	LacksCanary bool
	// BlindHalt explains why rollout.halt cannot see the causes of failures, "" if it can, or is not set.
	BlindHalt string
	// Canary is the progress of canaries, nil if there are none.
	Canary *v1alpha1.CanaryStatus
	// Retry is the last rollout retry that was asked for, nil for none.
	Retry *v1alpha1.RetryStatus
	// Deferred is what waits for spec.rollout.mode.
	Deferred Deferred
	// Limit bounds how many of the plans may be under way at once.
	Limit plan.Limit
	// Companions are all that its sidecars refer to. Missing are those that do not
	// exist or differ: they have to be written before any plan is carried out. One that
	// exists has its UID.
	Companions, Missing []corev1.ConfigMap
	// Obsolete are the names of companions that nothing desired refers to. They may be
	// deleted once no workload can be rolled back to them. HasSettled reports whether all of
	// them could be named, because all workloads have settled and nothing is on hold.
	Obsolete   []string
	HasSettled bool

	// Offers are the sidecars that the API server may put into workloads itself when they are
	// written. Left says why there are none; "" if it is not known.
	Offers []desired.AdmissionOverlay
	Left   string

	// TakenOut are the owners that take the sidecar out of their workloads, by kind.
	TakenOut []v1alpha1.OwnerRemoval

	// Again is when to decide again if nothing happens until then; 0 for never.
	Again time.Duration
	// Adopted is the content of the rollout under way, or its zero value.
	Adopted Adopted
	// Waiting are the names of ConfigMaps whose new content waits for the end of that
	// rollout.
	Waiting []string
	// Late reports whether templates ran out of time. The machine may have been busy,
	// so it is worth a retry.
	Late bool

	// Previous is for the next decision on the same VectorSidecar.
	Previous *Previous

	// Unread are the names of ConfigMaps that it depends on and that were not looked
	// up. If there are any, it must not be acted on: it took them for missing.
	Unread []string
	// UnreadAccounts are the same of ServiceAccounts.
	UnreadAccounts []string

	// mode is spec.rollout.mode, nil for Immediate.
	mode *mode
	// claims are the ports of nodes that plans will listen at.
	claims []claim
	// kept are the ConfigMaps of sidecars that are kept.
	kept map[string]bool
	// references are further ConfigMaps that were read.
	references []string
}

// claim is what a plan of this decision will listen at.
type claim struct {
	view  workload.View
	ports []workload.NodePort
}

// Writes reports whether anything has to be written now, to workloads or companions.
func (d *Decision) Writes() bool {
	return len(d.Missing) > 0 || slices.ContainsFunc(d.Plans, func(p plan.Plan) bool { return p.Writes() })
}

// IsIncomplete reports whether it must not be acted on, because something was not looked up.
func (d *Decision) IsIncomplete() bool { return len(d.Unread)+len(d.UnreadAccounts) > 0 }

// ConfigMaps returns the names of those whose content or existence the decision depends
// on.
func (d *Decision) ConfigMaps() []string {
	names := slices.Concat(d.references, slices.Sorted(maps.Keys(d.kept)))
	if d.ReferencedConfigMap != "" {
		names = append(names, d.ReferencedConfigMap)
	}
	for i := range d.Companions {
		names = append(names, d.Companions[i].Name)
	}
	return names
}

// IsUnderWay reports whether a rollout is going on that will finish by itself: some
// workloads roll out or soak, or wait for those that do, and none has failed. Writes that
// were refused may be so for ever.
func (d *Decision) IsUnderWay() bool {
	isMoving := false
	for i := range d.Plans {
		p := &d.Plans[i]
		if p.Failed || d.Invalid != nil {
			return false
		}
		if p.FailedBefore {
			continue
		}
		isNext := p.StartsPods() && p.Denied == nil && (p.Writes() || p.WaitsForOthers())
		isMoving = isMoving || p.Desired != nil && p.Action != plan.Remove && (p.InFlight || isNext)
	}
	return isMoving
}

// again schedules another decision after a time, for plans that may change although
// nothing happens.
func (d *Decision) again(delay time.Duration) {
	if d.Again == 0 || delay < d.Again {
		d.Again = max(delay, time.Millisecond)
	}
}

// note adds findings about the Vector configuration, each once.
func (d *Decision) note(findings []vectorconfig.Finding) {
	for _, finding := range findings {
		if !slices.Contains(d.Findings, finding) {
			d.Findings = append(d.Findings, finding)
		}
	}
}
