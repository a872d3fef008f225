// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package status turns the decision and the results of a reconcile into conditions, counts and
// entries of a status. It makes no decisions and does not write.
package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// maxNamed limits the number of workloads that a message names. The rest is counted.
const maxNamed = 3

// Facts are the observations and the results of one reconcile.
type Facts struct {
	Sidecar *v1alpha1.VectorSidecar
	// Decision is the decision as it was carried out.
	Decision *decision.Decision
	// Changed is true if a workload was written.
	Changed bool
	// ReconcileRequest is the value of the annotation that requested the reconcile, "" for none.
	ReconcileRequest string
	// Rollout is the progress with the target revision of the installation; nil if revisions do not
	// start in waves.
	Rollout *v1alpha1.RolloutStatus
	// SpecStatus is the last known good spec of the VectorSidecar, and the spec from which it was
	// reverted.
	SpecStatus lastgood.SpecStatus
	// Results are the results of the writes.
	Results decision.Results
}

// NewSidecarStatus returns the status for the facts. Its lastReconcileTime is the current time if a workload or
// another field of the status changed. Otherwise it stays unchanged.
func NewSidecarStatus(facts Facts, now metav1.Time) v1alpha1.VectorSidecarStatus {
	previous := &facts.Sidecar.Status
	status := v1alpha1.VectorSidecarStatus{
		ObservedGeneration: facts.Sidecar.Generation,
		MatchedWorkloads:   int32(facts.Decision.Matched),                                //nolint:gosec // No namespace has two billion.
		MatchedDeployments: int32(facts.Decision.Kinds.Matched[workload.Default().Kind]), //nolint:gosec // As above.
		Environment:        facts.Decision.Environment,
		TemplateSet:        facts.Decision.TemplateSet,
		LastReconcileTime:  previous.LastReconcileTime,
		Rollout:            facts.Rollout,
		LastKnownGood:      facts.SpecStatus.LastGood,
		Reverted:           facts.SpecStatus.Reverted,
		Deferred:           facts.Decision.Deferred,
		Canary:             facts.Decision.Canary,
		Retry:              facts.Decision.Retry,
		RemovedByOwners:    facts.Decision.OwnerRemovals,

		LastHandledReconcileAt: cmp.Or(facts.ReconcileRequest, previous.LastHandledReconcileAt),
	}
	for i := range previous.Conditions {
		status.Conditions = append(status.Conditions, *previous.Conditions[i].DeepCopy())
	}
	if facts.Decision.Invalid != nil { // Finished canaries stay finished.
		status.Canary = previous.Canary
	}
	countWorkloads(&status, facts)
	result := sidecarOutcome(facts, &status)
	result.addText(facts.Decision.BlindHalt)
	valid := outcome{reason: meta.ReasonAsExpected}
	if invalid := cmp.Or(facts.Decision.Invalid, facts.Decision.Outdated); invalid != nil {
		valid = outcome{state: stalled, reason: invalid.Reason, message: humanize.Message(invalid.Message, conditionLimit)}
	} else {
		valid.message = humanize.Message(validityMessage(facts.Decision.Findings), conditionLimit)
	}
	setConditions(&status.Conditions, result, valid, facts.Sidecar.Generation, now)
	expected := *previous
	expected.LastKnownGood = status.LastKnownGood
	if facts.Changed || !equality.Semantic.DeepEqual(expected, status) {
		status.LastReconcileTime = &now
	} else {
		status.LastKnownGood = previous.LastKnownGood // The field is written with the next change, because it does not justify its own write.
	}
	return status
}

// NewFailureStatus returns the status after a reconcile that failed before it had a status: the previous
// status with the reason of the failure.
func NewFailureStatus(sidecar *v1alpha1.VectorSidecar, failure error, now metav1.Time) v1alpha1.VectorSidecarStatus {
	status := sidecar.Status.DeepCopy()
	if reportFailure(&status.Conditions, failure, sidecar.Generation, now) {
		status.LastReconcileTime = &now
	}
	return *status
}

// reportFailure sets the conditions for a failed reconcile. It reports whether they changed.
func reportFailure(conditions *[]metav1.Condition, failure error, generation int64, now metav1.Time) (isNew bool) {
	previous := slices.Clone(*conditions)
	result, _ := failureOutcome(decision.Results{{Reason: meta.ReasonRetrying, Err: failure}})
	reportOutcome(conditions, result, generation, now)
	return !equality.Semantic.DeepEqual(previous, *conditions)
}

// setConditions sets the conditions from two results: the state to report, and the validity of
// values, templates and configuration.
func setConditions(conditions *[]metav1.Condition, result, valid outcome, generation int64, now metav1.Time) {
	reportOutcome(conditions, result, generation, now)
	apimeta.SetStatusCondition(conditions, newCondition(meta.ConditionConfigValid, valid.state == current, valid, generation, now))
}

// reportOutcome sets the conditions from the state to report.
func reportOutcome(conditions *[]metav1.Condition, result outcome, generation int64, now metav1.Time) {
	set := func(kind string, isTrue bool, outcome outcome) {
		apimeta.SetStatusCondition(conditions, newCondition(kind, isTrue, outcome, generation, now))
	}
	set(meta.ConditionReady, result.state == current, result)
	if result.state == stalled || result.failing {
		set(meta.ConditionError, true, result)
	} else {
		set(meta.ConditionError, false, outcome{reason: meta.ReasonAsExpected, message: "no error"})
	}
	// kstatus expects these two only while they are true.
	for kind, state := range map[string]state{meta.ConditionReconciling: working, meta.ConditionStalled: stalled} {
		if result.state == state {
			set(kind, true, result)
		} else {
			apimeta.RemoveStatusCondition(conditions, kind)
		}
	}
}

// newCondition returns a condition of a type with the reason and the message of an outcome.
func newCondition(kind string, isTrue bool, outcome outcome, generation int64, now metav1.Time) metav1.Condition {
	value := metav1.ConditionFalse
	if isTrue {
		value = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: value, Reason: outcome.reason, Message: outcome.message, ObservedGeneration: generation, LastTransitionTime: now}
}

// validityMessage returns the message for a configuration that may be injected, with its accepted errors
// and its warnings.
func validityMessage(findings []vectorconfig.Finding) string {
	message := "values, templates and Vector configuration produce a sidecar"
	for _, group := range []struct {
		findings []vectorconfig.Finding
		noun     string
	}{{vectorconfig.Errors(findings), "accepted error"}, {vectorconfig.Warnings(findings), "warning"}} {
		var texts []string
		for _, finding := range group.findings {
			texts = append(texts, finding.String())
		}
		if len(texts) > 0 {
			message += fmt.Sprintf("; %s (%d): %s", group.noun, len(texts), strings.Join(humanize.TruncateList(texts, maxNamed, len(texts)), "; "))
		}
	}
	return message
}

// Object returns the name of a workload for messages.
func Object(target workload.Ref) string {
	return fmt.Sprintf("%s %s/%s", target.Kind, target.Namespace, target.Name)
}

// conditionLimit is the maximum length of a condition's message in bytes.
const conditionLimit = 4096
