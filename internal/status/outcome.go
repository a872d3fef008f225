// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// state is the state of a VectorSidecar in the terms of kstatus, the status library that GitOps tools use.
type state int

const (
	// current means that the desired state is reached.
	current state = iota
	// working means that the operator or the cluster is making progress.
	working
	// stalled means that a user must act first.
	stalled
)

// outcome is a result for the conditions: the state of the VectorSidecar, with a reason and a message.
type outcome struct {
	state           state
	reason, message string
	// failing is true if an operation has failed and is retried.
	failing bool
}

// addText appends a text to the message, unless it is "".
func (result *outcome) addText(text string) {
	if text != "" {
		result.message = humanize.ShortenMessage(result.message+"; "+text, conditionLimit)
	}
}

// sidecarOutcome returns the most important result of a reconcile, for the conditions Ready, Error, Reconciling and
// Stalled.
func sidecarOutcome(facts Facts, counts *v1alpha1.VectorSidecarStatus) outcome {
	decision := facts.Decision
	if decision.Invalid != nil {
		return outcome{state: stalled, reason: decision.Invalid.Reason, message: humanize.ShortenMessage(decision.Invalid.Message, conditionLimit)}
	}
	if result, ok := failureOutcome(facts.Results.Failures()); ok {
		return result
	}
	if outdated := decision.Outdated; outdated != nil {
		return outcome{state: stalled, reason: outdated.Reason, message: humanize.ShortenMessage(outdated.Message, conditionLimit)}
	}
	groups, warned := map[plan.State]*group{}, &group{}
	for i := range decision.Plans {
		p := &decision.Plans[i]
		phase := phaseFor(p, nil)
		if groups[phase] == nil {
			groups[phase] = &group{}
		}
		groups[phase].add(p)
		if p.Warning != "" && p.IsCurrent() {
			warned.add(p)
		}
	}
	for _, rank := range ranks {
		group := groups[rank.phase]
		if group == nil {
			continue
		}
		reason := cmp.Or(rank.reason, group.plans[0].Reason())
		message := group.summary(decision.Matched, workload.Plural(facts.Sidecar.Spec.Kinds()...), rank.text) + waitMessage(decision)
		if text := facts.SpecStatus.Message(facts.Sidecar.Name); text != "" {
			message += "; " + text
		}
		state := rank.state
		if rank.phase == podsBlocked && facts.hasHaltedRevision() { // The operator does not write before a user acts.
			state = stalled
		}
		return outcome{state: state, reason: reason, message: humanize.ShortenMessage(message, conditionLimit), failing: rank.phase == podsBlocked}
	}
	return readyOutcome(facts, counts, groups, warned)
}

// hasHaltedRevision reports whether the installation is halted because workloads failed with the VectorSidecar's
// current revision.
func (f *Facts) hasHaltedRevision() bool {
	return f.Rollout != nil && f.Rollout.State == v1alpha1.RolloutHalted && f.Rollout.FailedRevision == f.Rollout.Revision
}

// readyOutcome returns the result if no workload fails, changes or waits.
func readyOutcome(facts Facts, counts *v1alpha1.VectorSidecarStatus, groups map[plan.State]*group, warned *group) outcome {
	decision, kinds := facts.Decision, facts.Sidecar.Spec.Kinds()
	switch {
	case !facts.Sidecar.Spec.IsEnabled():
		return outcome{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload has the sidecar"}
	case len(decision.Kinds.Unserved) > 0:
		return outcome{state: stalled, reason: meta.ReasonKindNotEnabled, message: describeNotEnabledKinds(decision.Kinds.Unserved)}
	case decision.Matched == 0 && len(decision.Kinds.MissingKinds) > 0:
		return outcome{reason: meta.ReasonKindMissing, message: "the selector matches no " + workload.Singular(kinds...) + " of the namespace" + describeMissingKinds(decision.Kinds.MissingKinds)}
	case decision.Matched == 0:
		return outcome{reason: meta.ReasonNoMatch, message: "the selector matches no " + workload.Singular(kinds...) + " of the namespace" + describeUnlistedKinds(decision.Kinds.Unlisted)}
	}
	message := fmt.Sprintf("%d of %d %s run the current sidecar", counts.ReadyWorkloads, decision.Matched, workload.Plural(kinds...))
	if group := groups[podsMissing]; group != nil {
		message += fmt.Sprintf(", %d have no pods that run the sidecar (%s)", group.count, group.texts(func(p *plan.Plan) string { return ": " + p.Message() }))
	}
	if group := groups[podsOutdated]; group != nil {
		message += fmt.Sprintf(", %d have the sidecar in the pod template, but not in all running pods (%s)", group.count, group.texts(func(p *plan.Plan) string { return ": " + p.Message() }))
	}
	if n := countEarlierRenderings(decision.Plans); n > 0 {
		message += fmt.Sprintf(", %d have a sidecar rendered by an earlier release, which stays until the next change", n)
	}
	if group := groups[deferred]; group != nil {
		message += fmt.Sprintf(", %d are deferred (%s)", group.count, group.texts(func(p *plan.Plan) string { return ": " + p.Message() }))
	}
	if group := groups[skipped]; group != nil {
		message += fmt.Sprintf(", %d skipped", group.count)
	}
	reason := meta.ReasonUpToDate
	if rollout := facts.Rollout; rollout != nil && rollout.Message != "" && rollout.State != v1alpha1.RolloutSoaking {
		message += fmt.Sprintf("; with revision %s of the installation's templates and values: %s", rollout.Revision, rollout.Message)
		if rollout.State == v1alpha1.RolloutReverted {
			reason = meta.ReasonReverted
		}
	}
	if facts.SpecStatus.IsTooLarge {
		message += tooLargeMessage()
	}
	message += describeUnlistedKinds(decision.Kinds.Unlisted) + describeMissingKinds(decision.Kinds.MissingKinds)
	if decision.LacksCanary {
		message += "; spec.rollout.canary selects no workload, so changes roll out without a canary"
	}
	if canary := decision.Canary; canary != nil && canary.State == v1alpha1.CanaryWithoutPods {
		message += "; no workload of spec.rollout.canary has pods that run this sidecar"
	}
	if warned.count > 0 {
		message += fmt.Sprintf("; workloads with warnings (%d): %s", warned.count, warned.texts(func(p *plan.Plan) string { return ": " + p.Warning }))
	}
	if n := len(decision.Findings); n > 0 {
		message += fmt.Sprintf("; findings in the Vector configuration: %d, see condition ConfigValid", n)
	}
	if facts.SpecStatus.Reverted != nil { // The applied spec is not the requested one, and a user must change that.
		return outcome{state: stalled, reason: meta.ReasonReverted, message: humanize.ShortenMessage(facts.SpecStatus.Message(facts.Sidecar.Name)+"; "+message, conditionLimit)}
	}
	return outcome{reason: reason, message: humanize.ShortenMessage(message, conditionLimit)}
}

// tooLargeMessage returns the message that the spec is too large to be stored as last known good.
func tooLargeMessage() string {
	return fmt.Sprintf("; the spec has more than %d KiB and is not stored, so that later failures cannot revert to it (spec.rollout.onFailure)", lastgood.MostBytes>>10)
}

// describeNotEnabledKinds returns the message that spec.workloads lists kinds that the installation does not manage.
func describeNotEnabledKinds(kinds []string) string {
	return "spec.workloads lists kinds that are not enabled in this installation: " + strings.Join(kinds, ", ") + "; add them to workloads.kinds in the Helm values, or remove them from spec.workloads"
}

// describeMissingKinds returns the message that spec.workloads lists kinds that the API server does not have, or "" if
// there are none.
func describeMissingKinds(kinds []string) string {
	var texts []string
	for _, kind := range kinds {
		workloadKind := workload.KindByName(kind)
		texts = append(texts, fmt.Sprintf("%s (%s)", workloadKind.Plural, workloadKind.GroupVersion()))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; spec.workloads lists " + strings.Join(kinds, " and ") + ", and the cluster has no " + strings.Join(texts, " and ") + "; the operator checks for it every minute"
}

// describeUnlistedKinds returns the message that the selector matches workloads of kinds that spec.workloads does not
// list, or "" if there are none.
func describeUnlistedKinds(count map[string]int) string {
	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		texts = append(texts, fmt.Sprintf("%d of kind %s", count[kind], kind))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; labels match " + strings.Join(texts, " and ") + ", which spec.workloads does not list"
}

// group is a group of workloads with the same phase, or with a warning: their number, and the plans of the first few.
type group struct {
	count int
	plans []*plan.Plan
}

// add adds a workload to the group. The group keeps the plans of the first maxNamed workloads, and only counts the
// others.
func (g *group) add(p *plan.Plan) {
	if g.count++; len(g.plans) < maxNamed {
		g.plans = append(g.plans, p)
	}
}

// texts returns the names of the first workloads, each with a text that describe returns, and the number of the others.
func (g *group) texts(describe func(*plan.Plan) string) string {
	var texts []string
	for _, p := range g.plans {
		texts = append(texts, WorkloadTitle(p.Target)+describe(p))
	}
	return strings.Join(humanize.TruncateList(texts, maxNamed, g.count), "; ")
}

// summary returns a message with the number of workloads in the group, and with the names and messages of the first
// few.
func (g *group) summary(matched int, noun, text string) string {
	return fmt.Sprintf("%d of %d %s %s: %s", g.count, max(matched, g.count), noun, text, g.texts(func(p *plan.Plan) string {
		if p.Message() == "" || phaseFor(p, nil) == soaking { // The message would only repeat the summary.
			return ""
		}
		return ": " + p.Message()
	}))
}

// ranks are the phases of workloads that make a VectorSidecar not ready, the most important first. If the reason is "",
// the result has the reason of the first workload.
var ranks = []struct {
	phase  plan.State
	state  state
	reason string
	text   string
}{
	{conflict, stalled, meta.ReasonConflict, "cannot get the sidecar because of a conflict"},
	{blocked, stalled, "", "cannot get the sidecar"},
	{failed, stalled, meta.ReasonRolloutFailed, "did not finish rolling out"},
	{podsBlocked, working, "", "have pods that do not run"},
	{removing, working, meta.ReasonRemoving, "are losing the sidecar"},
	{rollingOut, working, meta.ReasonRollingOut, "are rolling out"},
	{soaking, working, meta.ReasonSoaking, "are soaking after their rollout (spec.rollout.soak)"},
	{unavailable, working, meta.ReasonUnavailable, "have lost pods"},
	{waiting, working, "", "are waiting"},
}

// waitMessage returns the message that workloads do not use the new content of ConfigMaps yet, or "" if they do.
func waitMessage(decision *decision.Decision) string {
	if len(decision.Waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("; ConfigMap %s has changed: workloads get the new content after this rollout, or when the spec of the VectorSidecar changes", strings.Join(decision.Waiting, ", "))
}

// failureOutcome returns the result for failed writes, and false if no write failed.
func failureOutcome(list decision.Results) (outcome, bool) {
	if len(list) == 0 {
		return outcome{}, false
	}
	result := outcome{state: stalled, failing: true}
	var texts []string
	for _, failure := range list {
		texts = append(texts, failure.Err.Error())
		if !failure.IsPermanent {
			result.state = working
		}
	}
	result.reason = list[0].Reason
	result.message = humanize.ShortenMessage(strings.Join(humanize.TruncateList(texts, maxNamed, len(texts)), "; "), conditionLimit)
	return result, true
}

// NewErrors compares the conditions of two statuses. announced is the condition Error if it has become true or has another
// message, and no other event is about it, as about the start of a revert. terminal is the condition if it also waits for a
// user. Both are nil otherwise.
func NewErrors(before, after []metav1.Condition) (announced, terminal *metav1.Condition) {
	previous := apimeta.FindStatusCondition(before, meta.ConditionError)
	current := apimeta.FindStatusCondition(after, meta.ConditionError)
	if current.Status != metav1.ConditionTrue || previous != nil && previous.Status == current.Status && previous.Message == current.Message {
		return nil, nil
	}
	if !isRevert(current) {
		announced = current
	}
	if apimeta.IsStatusConditionTrue(after, meta.ConditionStalled) {
		terminal = current
	}
	return announced, terminal
}

// isRevert reports whether a condition is about a revert to an earlier revision or spec.
func isRevert(condition *metav1.Condition) bool { return condition.Reason == meta.ReasonReverted }
