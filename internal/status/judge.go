// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// state is the state of a VectorSidecar in the terms of kstatus.
type state int

const (
	// current means that the desired state is reached.
	current state = iota
	// working means that the operator or the cluster is making progress.
	working
	// stalled means that a user must act first.
	stalled
)

type verdict struct {
	state           state
	reason, message string
	// failing is true if an operation fails but is retried.
	failing bool
}

// add appends a text to the message, unless it is "".
func (v *verdict) add(text string) {
	if text != "" {
		v.message = humanize.Message(v.message+"; "+text, conditionLimit)
	}
}

// judge returns the most important state to report.
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
	groups, warned := map[plan.Phase]*group{}, &group{}
	for i := range decision.Plans {
		p := &decision.Plans[i]
		at := phaseOf(p, nil)
		if groups[at] == nil {
			groups[at] = &group{}
		}
		groups[at].add(p)
		if p.Warning != "" && p.IsCurrent() {
			warned.add(p)
		}
	}
	for _, rank := range ranks {
		found := groups[rank.phase]
		if found == nil {
			continue
		}
		reason := cmp.Or(rank.reason, found.first[0].Reason)
		message := found.summary(decision.Matched, workload.Plural(facts.Sidecar.Spec.Kinds()...), rank.text) + waits(decision)
		if text := facts.Own.Text(facts.Sidecar.Name); text != "" {
			message += "; " + text
		}
		return verdict{state: rank.state, reason: reason, message: humanize.Message(message, conditionLimit), failing: rank.phase == hindered}
	}
	return settled(facts, counts, groups, warned)
}

// settled returns the result if no workload needs an action.
func settled(facts Facts, counts *v1alpha1.VectorSidecarStatus, groups map[plan.Phase]*group, warned *group) verdict {
	decision, kinds := facts.Decision, facts.Sidecar.Spec.Kinds()
	switch {
	case !facts.Sidecar.Spec.IsEnabled():
		return verdict{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload carries the sidecar"}
	case len(decision.Kinds.Unserved) > 0:
		return verdict{state: stalled, reason: meta.ReasonKindNotEnabled, message: unserved(decision.Kinds.Unserved)}
	case decision.Matched == 0 && len(decision.Kinds.Lacking) > 0:
		return verdict{reason: meta.ReasonKindMissing, message: "the selector matches no " + workload.Singular(kinds...) + " of the namespace" + missing(decision.Kinds.Lacking)}
	case decision.Matched == 0:
		return verdict{reason: meta.ReasonNoMatch, message: "the selector matches no " + workload.Singular(kinds...) + " of the namespace" + unlisted(decision.Kinds.Unlisted)}
	}
	message := fmt.Sprintf("%d of %d %s run the current sidecar", counts.ReadyWorkloads, decision.Matched, workload.Plural(kinds...))
	if of := groups[podless]; of != nil {
		message += fmt.Sprintf(", %d have no pods that run it (%s)", of.count, of.texts(func(p *plan.Plan) string { return ": " + p.Message }))
	}
	if of := groups[held]; of != nil {
		message += fmt.Sprintf(", %d have it in the template and not in all pods (%s)", of.count, of.texts(func(p *plan.Plan) string { return ": " + p.Message }))
	}
	if n := keeping(decision.Plans); n > 0 {
		message += fmt.Sprintf(", %d as an earlier release rendered it until their next change", n)
	}
	if of := groups[deferred]; of != nil {
		message += fmt.Sprintf(", %d get it later (%s)", of.count, of.texts(func(p *plan.Plan) string { return ": " + p.Message }))
	}
	if of := groups[skipped]; of != nil {
		message += fmt.Sprintf(", %d skipped", of.count)
	}
	reason := meta.ReasonUpToDate
	if is := facts.Rollout; is != nil && is.Message != "" && is.State != v1alpha1.RolloutSoaking {
		message += fmt.Sprintf("; with revision %s of the installation's templates and values: %s", is.Revision, is.Message)
		if is.State == v1alpha1.RolloutReverted {
			reason = meta.ReasonReverted
		}
	}
	if facts.Own.IsTooLarge {
		message += tooLarge()
	}
	message += unlisted(decision.Kinds.Unlisted) + missing(decision.Kinds.Lacking)
	if decision.LacksCanary {
		message += "; spec.rollout.canary selects none of them, so that a change reaches all without one"
	}
	if is := decision.Canary; is != nil && is.State == v1alpha1.CanaryWithoutPods {
		message += "; no workload of spec.rollout.canary has pods that run this sidecar"
	}
	if warned.count > 0 {
		message += fmt.Sprintf("; warning: %d of them: %s", warned.count, warned.texts(func(p *plan.Plan) string { return ": the sidecar " + p.Warning }))
	}
	if n := len(decision.Findings); n > 0 {
		message += fmt.Sprintf("; warning: %d in the Vector configuration, see condition ConfigValid", n)
	}
	if facts.Own.Reverted != nil { // The applied spec is not the requested one, and a user must change that.
		return verdict{state: stalled, reason: meta.ReasonReverted, message: humanize.Message(facts.Own.Text(facts.Sidecar.Name)+"; "+message, conditionLimit)}
	}
	return verdict{reason: reason, message: humanize.Message(message, conditionLimit)}
}

// tooLarge returns the message for a spec that is too large to be stored.
func tooLarge() string {
	return fmt.Sprintf("; its own spec has more than %d KiB, so that there is nothing to go back to if workloads fail with another (spec.rollout.onFailure)", lastgood.MostBytes>>10)
}

// unserved returns the message for kinds that are not enabled in the installation.
func unserved(kinds []string) string {
	return fmt.Sprintf("spec.workloads lists %s, which this installation does not serve: it has to be added to workloads.kinds in the installation's values", strings.Join(kinds, " and "))
}

// missing returns the message for kinds that the API server of the cluster lacks; "" for none.
func missing(kinds []string) string {
	var texts []string
	for _, kind := range kinds {
		of := workload.KindByName(kind)
		texts = append(texts, fmt.Sprintf("%s (%s)", of.Plural, of.GroupVersion()))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; spec.workloads lists " + strings.Join(kinds, " and ") + ", and the cluster has no " + strings.Join(texts, " and ") + ", which are looked for every minute"
}

// unlisted returns a message with the number of workloads that match the labels but have a kind
// that spec.workloads does not list; "" if there are none.
func unlisted(count map[string]int) string {
	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		texts = append(texts, fmt.Sprintf("%d of kind %s", count[kind], kind))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; labels match " + strings.Join(texts, " and ") + ", which spec.workloads does not list"
}

// group is a group of workloads with the same phase or warning: their number, and the first few.
type group struct {
	count int
	first []*plan.Plan
}

func (g *group) add(p *plan.Plan) {
	if g.count++; len(g.first) < maxNamed {
		g.first = append(g.first, p)
	}
}

// texts names the first workloads, each with a text, and counts the rest.
func (g *group) texts(said func(*plan.Plan) string) string {
	var texts []string
	for _, p := range g.first {
		texts = append(texts, Object(p.Target)+said(p))
	}
	return strings.Join(humanize.TruncateList(texts, maxNamed, g.count), "; ")
}

// summary returns a message with the number of workloads in the group and the names of the first
// few.
func (g *group) summary(matched int, noun, what string) string {
	return fmt.Sprintf("%d of %d %s %s: %s", g.count, max(matched, g.count), noun, what, g.texts(func(p *plan.Plan) string {
		if p.Message == "" || phaseOf(p, nil) == soaking { // All have the same reason.
			return ""
		}
		return ": " + p.Message
	}))
}

// ranks are the phases that determine the result, the most important first. If the reason is empty,
// the workload's own reason is used.
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

// waits returns a message about the ConfigMaps with new content that is not used yet, and why.
func waits(decision *decision.Decision) string {
	if len(decision.Waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("; ConfigMap %s has changed in the meantime: its new content is used when this rollout has finished or failed, or when the VectorSidecar's spec changes", strings.Join(decision.Waiting, ", "))
}

// failures returns the result for failed writes.
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
	v.message = humanize.Message(strings.Join(humanize.TruncateList(texts, maxNamed, len(texts)), "; "), conditionLimit)
	return v, true
}
