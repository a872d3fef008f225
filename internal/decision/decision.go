// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision says what is to be done about what is desired: one VectorSidecar, facts
// of its world and what its workloads should carry in, plans and why out. It reads no
// cluster and no clock, and renders nothing.
package decision

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
)

// Decision is what should be, and why.
type Decision struct {
	// Environment whose values were used, what named it, and the template set.
	Environment, EnvironmentFrom, TemplateSet string
	// ReferencedConfigMap is the name of the ConfigMap that the Vector
	// configuration is copied from, "" if it is rendered. It is known even when
	// the ConfigMap is not there.
	ReferencedConfigMap string
	// Invalid says why nothing may be injected, nil if it may.
	Invalid *desired.Invalid
	// OfWorkloads tells that Invalid is what templates said after they had looked
	// at the workloads: of others they may say something else.
	OfWorkloads bool
	// Findings are what is wrong with the Vector configuration, errors first:
	// the errors too when sidecar.config.check lets them through.
	Findings []vectorconfig.Finding
	// Validations are the configurations that Vector has to be asked about
	// before anything waiting for them goes on.
	Validations []desired.Validation
	// Outdated says what is wrong with something of the platform's, of which
	// the last good version was used; nil if nothing is.
	Outdated *desired.Invalid
	// Plans has a plan for each workload of the snapshot that the
	// VectorSidecar matches or that carries its sidecar, by name.
	Plans []plan.Plan
	// Matched is how many of them the selector matches.
	Matched int
	// Limit is how many of the plans may be under way at once.
	Limit plan.Limit
	// Companions are all that its sidecars refer to. Those of them that are not
	// there, or are not the same, are Missing: they have to be written before
	// any plan is carried out. One that is there has its UID.
	Companions, Missing []corev1.ConfigMap
	// Obsolete are the names of companions that nothing wanted refers to. They
	// may go once no workload can be rolled back to them.
	Obsolete []string

	// Again is when to decide again though nothing happens until then; 0 for never.
	Again time.Duration
	// Adopted is what a rollout is under way with, its zero value if none is.
	Adopted Adopted
	// Waiting are the ConfigMaps, by name, that have another content by now, which
	// waits for the end of that rollout.
	Waiting []string
	// Late tells that templates ran out of time. That may be a busy machine's
	// fault, so that it is worth another try.
	Late bool

	// Previous is for the next decision on the same VectorSidecar.
	Previous *Previous

	// Unread are the ConfigMaps, by name, that it depends on and that nobody had looked
	// for. A decision with any is not to be acted on: it took them for missing.
	Unread []string

	// kept are the ConfigMaps of sidecars that are kept though another is rendered.
	kept map[string]bool
	// references are further ConfigMaps that were asked for.
	references []string
}

// Writes reports whether anything has to be written now, to workloads or companions.
func (d *Decision) Writes() bool {
	return len(d.Missing) > 0 || slices.ContainsFunc(d.Plans, func(p plan.Plan) bool { return p.Writes() })
}

// ConfigMaps are the names of those whose content or existence the decision
// depends on.
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

// IsUnderWay reports whether a rollout goes on that will come to an end by itself: some
// workloads roll out or soak, or wait for those that do, and none has failed.
func (d *Decision) IsUnderWay() bool {
	isMoving := false
	for i := range d.Plans {
		p := &d.Plans[i]
		if p.Failed || d.Invalid != nil {
			return false
		}
		isNext := p.StartsPods() && (p.Writes() || p.Reason == meta.ReasonWaitingForBudget)
		isMoving = isMoving || p.Desired != nil && p.Action != plan.Remove && (p.InFlight || isNext)
	}
	return isMoving
}

// again has a look taken after a time, when a plan may become another one though
// nothing happens.
func (d *Decision) again(after time.Duration) {
	if d.Again == 0 || after < d.Again {
		d.Again = max(after, time.Millisecond)
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
