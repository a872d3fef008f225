// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
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
		return verdict{state: stalled, reason: decision.Invalid.Reason, message: bounded(decision.Invalid.Message, conditionLimit)}
	}
	if v, found := failures(facts.Failures); found {
		return v
	}
	if outdated := decision.Outdated; outdated != nil {
		return verdict{state: stalled, reason: outdated.Reason, message: bounded(outdated.Message, conditionLimit)}
	}
	groups := map[stand][]*plan.Plan{}
	for i := range decision.Plans {
		p := &decision.Plans[i]
		at := standOf(p, nil)
		groups[at] = append(groups[at], p)
	}
	for _, rank := range ranks {
		list := groups[rank.stand]
		if len(list) == 0 {
			continue
		}
		reason := rank.reason
		if reason == "" {
			reason = list[0].Reason
		}
		return verdict{state: rank.state, reason: reason, message: bounded(summary(list, decision.Matched, rank.text), conditionLimit)}
	}
	switch {
	case !facts.Sidecar.Spec.IsEnabled():
		return verdict{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload carries the sidecar"}
	case decision.Matched == 0:
		return verdict{reason: meta.ReasonNoMatch, message: "the selector matches no Deployment of the namespace"}
	}
	message := fmt.Sprintf("%d of %d Deployments run the current sidecar", counts.UpdatedDeployments, decision.Matched)
	if counts.SkippedDeployments > 0 {
		message += fmt.Sprintf(", %d skipped", counts.SkippedDeployments)
	}
	if warned := warnings(decision.Plans); len(warned) > 0 {
		message += fmt.Sprintf("; warning: %d of them: %s", len(warned), first(warned))
	}
	if n := len(decision.Findings); n > 0 {
		message += fmt.Sprintf("; warning: %d in the Vector configuration, see condition ConfigValid", n)
	}
	return verdict{reason: meta.ReasonUpToDate, message: bounded(message, conditionLimit)}
}

// warnings are those of the workloads that run the sidecar.
func warnings(plans []plan.Plan) []string {
	var texts []string
	for i := range plans {
		if p := &plans[i]; p.Warning != "" && p.Action == plan.None {
			texts = append(texts, fmt.Sprintf("%s: the sidecar %s", Object(p.Target), p.Warning))
		}
	}
	return texts
}

// ranks are what workloads can add to the verdict, the most important first. An
// empty reason stands for that of the workload.
var ranks = []struct {
	stand  stand
	state  state
	reason string
	text   string
}{
	{conflict, stalled, meta.ReasonConflict, "cannot take the sidecar because of a conflict"},
	{blocked, stalled, "", "cannot take the sidecar"},
	{failed, stalled, meta.ReasonRolloutFailed, "did not finish rolling out before their progress deadline"},
	{removing, working, meta.ReasonRemoving, "are losing the sidecar"},
	{rollingOut, working, meta.ReasonRollingOut, "are rolling out"},
	{waiting, working, "", "wait for their turn"},
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
	v.message = bounded(first(texts), conditionLimit)
	return v, true
}

// summary says how many workloads share a lot, and names the first of them.
func summary(list []*plan.Plan, matched int, what string) string {
	var texts []string
	for _, p := range list {
		text := Object(p.Target)
		if p.Message != "" {
			text += ": " + p.Message
		}
		texts = append(texts, text)
	}
	return fmt.Sprintf("%d of %d Deployments %s: %s", len(list), max(matched, len(list)), what, first(texts))
}

func first(list []string) string {
	if len(list) <= shown {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(list[:shown], "; "), len(list)-shown)
}
