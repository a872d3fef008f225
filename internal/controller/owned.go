// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// announceOwned says of workloads that another operator owns that they are about to get their first
// sidecar, on each of them, and on the VectorSidecar of the first.
func announceOwned(events *announcer, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision) {
	isTold := false
	for i := range decided.Plans {
		p := &decided.Plans[i]
		if p.Reason != meta.ReasonOwnedBy || !p.Writes() {
			continue
		}
		note := humanize.Message(p.Message, noteLimit)
		events.Eventf(reference(p.Target), sidecar, corev1.EventTypeNormal, p.Reason, string(p.Action), "%s", note)
		if !isTold {
			isTold = true
			events.Eventf(sidecar, nil, corev1.EventTypeNormal, p.Reason, string(p.Action), "%s %s: %s", p.Target.Kind, p.Target.Name, note)
		}
	}
}

// announceTakenOut emits an event on each workload whose owner was found to take the sidecar out.
func announceTakenOut(events *announcer, sidecar *v1alpha1.VectorSidecar, before, after []v1alpha1.TakenOut, decided *decision.Decision) {
	for i := range after {
		if slices.Contains(before, after[i]) {
			continue
		}
		for n := range decided.Plans {
			p := &decided.Plans[n]
			if p.Reason == meta.ReasonTakenOutByOwner && p.Target.Kind == after[i].Kind && p.Target.Name == after[i].Name {
				events.Eventf(reference(p.Target), sidecar, corev1.EventTypeWarning, p.Reason, "Inject", "%s", humanize.Message(p.Message, noteLimit))
			}
		}
	}
}
