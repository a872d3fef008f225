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

// maxNamed is the maximum number of workloads that a message names. The message has the number of the others.
const maxNamed = 3

// Facts are the observations and the results of one reconcile, from which the status of a VectorSidecar is computed.
type Facts struct {
	Sidecar *v1alpha1.VectorSidecar
	// Decision is the decision of the reconcile, as it was carried out.
	Decision *decision.Decision
	// Changed is true if this reconcile has written a workload.
	Changed bool
	// ReconcileRequest is the value of the annotation that requested the reconcile, or "" for none.
	ReconcileRequest string
	// Rollout is the progress of the VectorSidecar with the target revision. It is nil if the installation has neither
	// waves nor a halt.
	Rollout *v1alpha1.RolloutStatus
	// SpecStatus contains the last known good spec of the VectorSidecar, and the failed spec from which it was
	// reverted.
	SpecStatus lastgood.SpecStatus
	// Results are the results of the writes.
	Results decision.Results
}

// NewSidecarStatus returns the status of a VectorSidecar. Its lastReconcileTime is now if a workload or another field
// of the status has changed, and stays unchanged otherwise.
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
		valid = outcome{state: stalled, reason: invalid.Reason, message: humanize.ShortenMessage(invalid.Message, conditionLimit)}
	} else {
		valid.message = humanize.ShortenMessage(validityMessage(facts.Decision.Findings), conditionLimit)
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

// NewFailureStatus returns the status of a VectorSidecar after a reconcile that failed early: the previous status with
// the error in its conditions.
func NewFailureStatus(sidecar *v1alpha1.VectorSidecar, failure error, now metav1.Time) v1alpha1.VectorSidecarStatus {
	status := sidecar.Status.DeepCopy()
	if reportFailure(&status.Conditions, failure, sidecar.Generation, now) {
		status.LastReconcileTime = &now
	}
	return *status
}

// reportFailure sets the conditions for a failed reconcile. It returns true if the conditions have changed.
func reportFailure(conditions *[]metav1.Condition, failure error, generation int64, now metav1.Time) (isNew bool) {
	previous := slices.Clone(*conditions)
	result, _ := failureOutcome(decision.Results{{Reason: meta.ReasonRetrying, Err: failure}})
	reportOutcome(conditions, result, generation, now)
	return !equality.Semantic.DeepEqual(previous, *conditions)
}

// setConditions sets all conditions. result determines Ready, Error, Reconciling and Stalled, and valid determines
// ConfigValid.
func setConditions(conditions *[]metav1.Condition, result, valid outcome, generation int64, now metav1.Time) {
	reportOutcome(conditions, result, generation, now)
	apimeta.SetStatusCondition(conditions, newCondition(meta.ConditionConfigValid, valid.state == current, valid, generation, now))
}

// reportOutcome sets the conditions Ready, Error, Reconciling and Stalled.
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
	// kstatus expects Reconciling and Stalled to exist only while they are true.
	for kind, state := range map[string]state{meta.ConditionReconciling: working, meta.ConditionStalled: stalled} {
		if result.state == state {
			set(kind, true, result)
		} else {
			apimeta.RemoveStatusCondition(conditions, kind)
		}
	}
}

// newCondition returns the condition of a type with the reason and the message of an outcome.
func newCondition(kind string, isTrue bool, outcome outcome, generation int64, now metav1.Time) metav1.Condition {
	value := metav1.ConditionFalse
	if isTrue {
		value = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: value, Reason: outcome.reason, Message: outcome.message, ObservedGeneration: generation, LastTransitionTime: now}
}

// validityMessage returns the message for a valid configuration, with its accepted errors and its warnings.
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

// WorkloadTitle returns the kind, namespace and name of a workload for messages.
func WorkloadTitle(target workload.Ref) string {
	return fmt.Sprintf("%s %s/%s", target.Kind, target.Namespace, target.Name)
}

// conditionLimit is the maximum length of the message in a condition, in bytes.
const conditionLimit = 4096
