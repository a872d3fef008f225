// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// state is where a VectorSidecar stands, as kstatus tells it.
type state int

const (
	// current: everything is as it should be.
	current state = iota
	// working: the operator or the cluster is at it.
	working
	// stalled: a person has to do something first.
	stalled
)

type verdict struct {
	state           state
	reason, message string
	// failing tells that something goes wrong, though it is tried again.
	failing bool
}

// judge finds the most important thing to say.
func judge(facts Facts, counts *v1alpha1.VectorSidecarStatus) verdict {
	decision := facts.Decision
	if decision.Invalid != nil {
		return verdict{state: stalled, reason: decision.Invalid.Reason, message: humanize.Message(decision.Invalid.Message, conditionLimit)}
	}
	if v, found := failures(facts.Failures); found {
		return v
	}
	if outdated := decision.Outdated; outdated != nil {
		return verdict{state: stalled, reason: outdated.Reason, message: humanize.Message(outdated.Message, conditionLimit)}
	}
	lots, warned := map[plan.Phase]*lot{}, &lot{}
	for i := range decision.Plans {
		p := &decision.Plans[i]
		at := phaseOf(p, nil)
		if lots[at] == nil {
			lots[at] = &lot{}
		}
		lots[at].add(p)
		if p.Warning != "" && p.IsCurrent() {
			warned.add(p)
		}
	}
	for _, rank := range ranks {
		lot := lots[rank.phase]
		if lot == nil {
			continue
		}
		reason := cmp.Or(rank.reason, lot.first[0].Reason)
		message := lot.summary(decision.Matched, rank.text) + waits(decision)
		return verdict{state: rank.state, reason: reason, message: humanize.Message(message, conditionLimit), failing: rank.phase == hindered}
	}
	switch {
	case !facts.Sidecar.Spec.IsEnabled():
		return verdict{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload carries the sidecar"}
	case decision.Matched == 0:
		return verdict{reason: meta.ReasonNoMatch, message: "the selector matches no " + workload.Singular() + " of the namespace"}
	}
	message := fmt.Sprintf("%d of %d %s run the current sidecar", counts.UpdatedDeployments, decision.Matched, workload.Plural())
	if n := keeping(decision.Plans); n > 0 {
		message += fmt.Sprintf(", %d as an earlier release rendered it until their next change", n)
	}
	if counts.SkippedDeployments > 0 {
		message += fmt.Sprintf(", %d skipped", counts.SkippedDeployments)
	}
	if warned.count > 0 {
		message += fmt.Sprintf("; warning: %d of them: %s", warned.count, warned.texts(func(p *plan.Plan) string { return ": the sidecar " + p.Warning }))
	}
	if n := len(decision.Findings); n > 0 {
		message += fmt.Sprintf("; warning: %d in the Vector configuration, see condition ConfigValid", n)
	}
	return verdict{reason: meta.ReasonUpToDate, message: humanize.Message(message, conditionLimit)}
}

// lot is the workloads that share something: how many, and the first of them.
type lot struct {
	count int
	first []*plan.Plan
}

func (l *lot) add(p *plan.Plan) {
	if l.count++; len(l.first) < shown {
		l.first = append(l.first, p)
	}
}

// texts names the first workloads, each with what is said of it, and counts the rest.
func (l *lot) texts(said func(*plan.Plan) string) string {
	var texts []string
	for _, p := range l.first {
		texts = append(texts, Object(p.Target)+said(p))
	}
	return strings.Join(humanize.First(texts, shown, l.count), "; ")
}

// summary says how many workloads share the lot, and names the first of them.
func (l *lot) summary(matched int, what string) string {
	return fmt.Sprintf("%d of %d %s %s: %s", l.count, max(matched, l.count), workload.Plural(), what, l.texts(func(p *plan.Plan) string {
		if p.Message == "" || phaseOf(p, nil) == soaking { // These are all for one reason.
			return ""
		}
		return ": " + p.Message
	}))
}

// ranks are what workloads can add to the verdict, the most important first. An
// empty reason stands for that of the workload.
var ranks = []struct {
	phase  plan.Phase
	state  state
	reason string
	text   string
}{
	{conflict, stalled, meta.ReasonConflict, "cannot take the sidecar because of a conflict"},
	{blocked, stalled, "", "cannot take the sidecar"},
	{failed, stalled, meta.ReasonRolloutFailed, "did not finish rolling out"},
	{hindered, working, "", "have pods that do not run"},
	{removing, working, meta.ReasonRemoving, "are losing the sidecar"},
	{rollingOut, working, meta.ReasonRollingOut, "are rolling out"},
	{soaking, working, meta.ReasonSoaking, "have rolled out and soak (spec.rollout.soak)"},
	{unavailable, working, meta.ReasonUnavailable, "have lost pods"},
	{waiting, working, "", "wait for their turn"},
}

// waits names the ConfigMaps whose new content is not taken yet, and says why.
func waits(decision *decision.Decision) string {
	if len(decision.Waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("; ConfigMap %s has changed meanwhile: what it holds now is taken when this rollout has finished or failed, or with a change of the VectorSidecar's spec", strings.Join(decision.Waiting, ", "))
}

// failures gives the verdict on writes that were not accepted.
func failures(list []Failure) (verdict, bool) {
	if len(list) == 0 {
		return verdict{}, false
	}
	v := verdict{state: stalled, failing: true}
	var texts []string
	for _, failure := range list {
		texts = append(texts, failure.Err.Error())
		if !failure.Permanent {
			v.state = working
		}
	}
	v.reason = list[0].Reason
	v.message = humanize.Message(strings.Join(humanize.First(texts, shown, len(texts)), "; "), conditionLimit)
	return v, true
}
