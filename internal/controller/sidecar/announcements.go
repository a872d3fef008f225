// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// announceOwned emits an event on each workload with a controller owner that is about to get its first sidecar. It
// emits the event of the first such workload on the VectorSidecar, too.
func announceOwned(recorder *events.Recorder, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision) {
	isTold := false
	for i := range decision.Plans {
		p := &decision.Plans[i]
		if p.OwnerNotice == "" || p.Block != nil {
			continue
		}
		note := humanize.ShortenMessage(p.OwnerNotice, events.NoteLimit)
		recorder.Eventf(events.Reference(p.Target), sidecar, corev1.EventTypeNormal, meta.ReasonOwnedBy, string(p.Change), "%s", note)
		if !isTold {
			isTold = true
			recorder.Eventf(sidecar, nil, corev1.EventTypeNormal, meta.ReasonOwnedBy, string(p.Change), "%s %s: %s", p.Target.Kind, p.Target.Name, note)
		}
	}
}

// announceOwnerRemovals emits an event on each workload from which a controller owner has removed the sidecar, if the
// previous status does not have that removal.
func announceOwnerRemovals(recorder *events.Recorder, sidecar *v1alpha1.VectorSidecar, before, after []v1alpha1.OwnerRemoval, decision *decision.Decision) {
	for i := range after {
		if slices.Contains(before, after[i]) {
			continue
		}
		for n := range decision.Plans {
			p := &decision.Plans[n]
			if after[i].IsIn(p.Target.Namespace) && p.IsBlockedBy(plan.BlockedByOwnerRemoval) && p.Target.Kind == after[i].Kind && p.Target.Name == after[i].Name {
				recorder.Eventf(events.Reference(p.Target), sidecar, corev1.EventTypeWarning, p.Reason(), "Inject", "%s", humanize.ShortenMessage(p.Message(), events.NoteLimit))
			}
		}
	}
}

// announceObstacles emits an event on each workload that its own team has to change before it can have the sidecar,
// once for each cause. Causes in the previous status were announced before, also by another process.
func announceObstacles(recorder *events.Recorder, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, before []v1alpha1.WorkloadStatus, decision *decision.Decision) {
	obstacles := map[types.UID]string{}
	if decision.Invalid == nil || decision.IsWorkloadSpecific { // Otherwise, the event is on the VectorSidecar.
		for i := range decision.Plans {
			if cause := obstacle(&decision.Plans[i]); cause != "" {
				obstacles[decision.Plans[i].Target.UID] = cause
			}
		}
	}
	previous := sidecarState.SetObstacles(obstacles)
	for i := range decision.Plans {
		p := &decision.Plans[i]
		cause, ok := obstacles[p.Target.UID]
		isListed := slices.ContainsFunc(before, func(w v1alpha1.WorkloadStatus) bool {
			return w.Kind == p.Target.Kind && w.Name == p.Target.Name && causeFor(w.Reason, w.Message) == cause
		})
		if ok && previous[p.Target.UID] != cause && !isListed {
			recorder.Eventf(events.Reference(p.Target), sidecar, corev1.EventTypeWarning, p.Reason(), "Inject", "%s: %s", meta.Title(sidecar.Name), humanize.ShortenMessage(p.Message(), events.NoteLimit/2))
		}
	}
}

// obstacle returns the cause for which a workload or its pods cannot have the sidecar until its own team changes
// something, such as a conflict, a value of an annotation, or a quota. It is "" for none.
func obstacle(p *plan.Plan) string {
	if p.IsBlockedBy(plan.BlockedByConflict) || p.IsBlockedBy(plan.BlockedByObstacle) || p.State() == v1alpha1.StatePodsBlocked {
		return causeFor(p.Reason(), p.Message())
	}
	return ""
}

// causeFor returns a text that identifies a cause. It has no digits, because the API server's messages contain
// numbers that change, such as the use of a quota.
func causeFor(reason, message string) string {
	return reason + ": " + strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, message)
}
