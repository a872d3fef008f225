// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

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
func judge(facts Facts, injected int32) verdict {
	decision := facts.Decision
	if decision.Invalid != nil {
		return verdict{state: stalled, reason: decision.Invalid.Reason, message: bounded(decision.Invalid.Message)}
	}
	if v, found := failures(facts.Failures); found {
		return v
	}
	groups := map[group][]string{}
	for i := range decision.Plans {
		p := &decision.Plans[i]
		text := Object(p.Target)
		if p.Message != "" {
			text += ": " + p.Message
		}
		kind := groupOf(p)
		groups[kind] = append(groups[kind], text)
	}
	for _, kind := range []group{conflicting, blocked, failed} {
		if list := groups[kind]; len(list) > 0 {
			return verdict{state: stalled, reason: reasons[kind], message: bounded(summary(list, decision.Matched, descriptions[kind]))}
		}
	}
	for _, kind := range []group{removing, rolling} {
		if list := groups[kind]; len(list) > 0 {
			return verdict{state: working, reason: reasons[kind], message: bounded(summary(list, decision.Matched, descriptions[kind]))}
		}
	}
	switch {
	case !facts.Sidecar.Spec.IsEnabled():
		return verdict{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload carries the sidecar"}
	case decision.Matched == 0:
		return verdict{reason: meta.ReasonNoMatch, message: "the selector matches no Deployment of the namespace"}
	}
	return verdict{reason: meta.ReasonUpToDate, message: fmt.Sprintf("%d of %d Deployments run the current sidecar", injected, decision.Matched)}
}

// group is what one workload adds to the verdict.
type group int

const (
	settled group = iota
	conflicting
	blocked
	failed
	removing
	rolling
)

var reasons = map[group]string{
	conflicting: meta.ReasonConflict, blocked: meta.ReasonBlocked, failed: meta.ReasonRolloutFailed,
	removing: meta.ReasonRemoving, rolling: meta.ReasonRollingOut,
}

var descriptions = map[group]string{
	conflicting: "cannot take the sidecar because of a conflict",
	blocked:     "cannot take the sidecar",
	failed:      "did not finish rolling out before their progress deadline",
	removing:    "still carry a sidecar that has to go",
	rolling:     "are rolling out",
}

func groupOf(p *plan.Plan) group {
	switch {
	case p.Action == plan.Conflict:
		return conflicting
	case p.Action == plan.Blocked:
		return blocked
	case p.Action == plan.Remove:
		return removing
	case p.Writes():
		return rolling
	case p.Desired != nil && p.Rollout == workload.RolloutFailed:
		return failed
	case p.Desired != nil && p.Rollout == workload.RolloutProgressing:
		return rolling
	}
	return settled
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
	v.message = bounded(first(texts))
	return v, true
}

// summary says how many workloads share a lot, and names the first of them.
func summary(list []string, matched int, what string) string {
	return fmt.Sprintf("%d of %d Deployments %s: %s", len(list), max(matched, len(list)), what, first(list))
}

func first(list []string) string {
	if len(list) <= shown {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(list[:shown], "; "), len(list)-shown)
}
