// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// AnnounceError emits an event about the condition Error, if the condition is not nil.
func (r *Recorder) AnnounceError(object client.Object, condition *metav1.Condition) {
	if condition != nil {
		r.Eventf(object, nil, corev1.EventTypeWarning, condition.Reason, "Reconcile", "%s", humanize.ShortenMessage(condition.Message, NoteLimit))
	}
}

// AnnounceFailures emits an event about each failure of a rollout that the previous status does not have.
func (r *Recorder) AnnounceFailures(ctx context.Context, object client.Object, before, after []v1alpha1.RolloutFailure) {
	for i := range after {
		if slices.Contains(before, after[i]) {
			continue
		}
		note := humanize.ShortenMessage(after[i].Text(), NoteLimit)
		r.Eventf(object, nil, corev1.EventTypeWarning, meta.ReasonRolloutFailed, "Rollout", "%s", note)
		telemetry.Warn(log.FromContext(ctx), "recorded failure", "revision", after[i].Revision, "reason", after[i].Reason, "cause", note)
	}
}

// AnnounceRevert emits an event about the revert of a spec to the last known good spec. The cause is that of the first
// failed workload.
func (r *Recorder) AnnounceRevert(ctx context.Context, object client.Object, good *v1alpha1.LastKnownGoodSpec, reverted *v1alpha1.RevertedSpec, cause string) {
	log.FromContext(ctx).Info("reverted spec", "generation", reverted.Generation, "to", good.Generation, "failed", reverted.FailedWorkloads)
	note := fmt.Sprintf("workloads revert to the spec of generation %d (spec.rollout.onFailure: Revert), because %d workloads failed with the spec of generation %d: %s",
		good.Generation, reverted.FailedWorkloads, reverted.Generation, cause)
	r.Eventf(object, nil, corev1.EventTypeWarning, meta.ReasonReverted, "Revert", "%s", humanize.ShortenMessage(note, NoteLimit))
}

// AnnounceRevertEnd emits an event if a revert has ended. The current spec is rendered again then.
func (r *Recorder) AnnounceRevertEnd(object client.Object, spec *v1alpha1.VectorSidecarSpec, previous, current *v1alpha1.RevertedSpec) {
	if previous == nil || current != nil || object.GetDeletionTimestamp() != nil {
		return
	}
	reason := "the spec has changed"
	if lastgood.Digest(spec) == previous.Digest {
		reason = "a user retries the spec"
	}
	r.Eventf(object, nil, corev1.EventTypeNormal, meta.ReasonRevertEnded, "Revert",
		"workloads get the current spec again instead of the spec before generation %d: %s", previous.Generation, reason)
}
