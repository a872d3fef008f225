// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// maxRollingOut is the number of workloads that may roll out at the same time after removals of leftovers. It is fixed
// because the VectorSidecar with the limit does not exist anymore.
const maxRollingOut = 5

// cleanedWorkload is a workload from which a leftover was removed, with its generation after the removal.
type cleanedWorkload struct {
	workload.Ref
	generation int64
}

// cleanSidecars finds the leftover sidecars, and removes those that are safe to remove. It returns the remaining
// ones.
func (r *Reconciler) cleanSidecars(ctx context.Context) (remaining []companion.Leftover, result progress) {
	leftovers := companion.FindLeftovers(r.carriers(), r.existenceCheck(r.cachedOwners(ctx)), r.WrittenBy)
	leftovers, confirmed := r.confirmLeftovers(ctx, leftovers)
	remaining, cleaned := r.removeLeftovers(ctx, leftovers)
	return remaining, max(confirmed, cleaned)
}

// confirmLeftovers asks the API server whether the VectorSidecars of leftovers are missing, before a leftover is removed or
// reported. It returns the confirmed leftovers, including the ones that were reported before.
func (r *Reconciler) confirmLeftovers(ctx context.Context, leftovers []companion.Leftover) ([]companion.Leftover, progress) {
	result := finished
	exists := map[string]func(namespace, manager string) bool{}
	confirmed := slices.DeleteFunc(leftovers, func(item companion.Leftover) bool {
		if item.Action != companion.Clean && r.reported[leftover{item.UID, item.Manager}] == item.Action {
			return false
		}
		if exists[item.Namespace] == nil {
			existing, err := r.liveOwners(ctx, item.Namespace)
			if err == nil {
				exists[item.Namespace] = r.existenceCheck(existing)
			} else {
				result = failing
				exists[item.Namespace] = func(string, string) bool { return true } // Unknown: do not remove the sidecar.
				log.FromContext(ctx).Error(err, "confirming leftovers", telemetry.KeyNamespace, item.Namespace)
			}
		}
		return exists[item.Namespace](item.Namespace, item.Manager)
	})
	return confirmed, result
}

// removeLeftovers removes the leftovers that are safe to remove, a few workloads at a time. It returns the remaining leftovers.
func (r *Reconciler) removeLeftovers(ctx context.Context, leftovers []companion.Leftover) ([]companion.Leftover, progress) {
	r.dropRolledOut()
	result := finished
	remaining := slices.DeleteFunc(leftovers, func(item companion.Leftover) bool {
		if item.Action != companion.Clean {
			return false
		}
		if _, isRollingOut := r.rollingOut[item.UID]; !isRollingOut && len(r.rollingOut) >= maxRollingOut {
			result = max(result, waiting)
			return false
		}
		isRemoved, removed := r.removeLeftover(ctx, &item)
		result = max(result, removed)
		return isRemoved
	})
	if len(r.rollingOut) > 0 {
		result = max(result, waiting)
	}
	return remaining, result
}

// dropRolledOut drops the workloads that have rolled out after a removal.
func (r *Reconciler) dropRolledOut() {
	for uid, cleaned := range r.rollingOut {
		record := r.Workloads.Get(cleaned.Kind, cleaned.Namespace, cleaned.Name)
		isRollingOut := record != nil && record.UID == uid && (record.Generation() < cleaned.generation || record.Rollout() == workload.RolloutProgressing)
		if !isRollingOut {
			delete(r.rollingOut, uid)
		}
	}
}

// removeLeftover removes a leftover, and reports whether the leftover no longer exists.
func (r *Reconciler) removeLeftover(ctx context.Context, item *companion.Leftover) (isRemoved bool, result progress) {
	view, err := r.readView(ctx, item)
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "reading a workload with a leftover", telemetry.KeyWorkload, status.WorkloadTitle(item.Ref))
		return false, failing
	case view == nil:
		return true, finished
	case view.IsBetween && view.Rollout != workload.RolloutFailed:
		return false, waiting // A new pod template would restart the steps of an Argo Rollout.
	case ctx.Err() != nil:
		return false, failing
	}
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	written, err := removal.Remove(ctx, r.Writer, view, item.Manager)
	r.Recorder.RecordWrite()
	r.Metrics.RecordWrite(item.Kind, string(plan.Remove), apply.ResultLabel(err))
	switch {
	case errors.Is(err, apply.ErrGone):
		return true, finished
	case errors.Is(err, apply.ErrStale):
		return false, waiting
	case err != nil:
		r.reportFailure(ctx, item, err)
		return false, failing
	}
	r.rollingOut[item.UID] = cleanedWorkload{item.Ref, written.Generation}
	r.Metrics.RecordRemovedLeftover()
	log.FromContext(ctx).Info("removed leftover sidecar", telemetry.KeyWorkload, status.WorkloadTitle(item.Ref), telemetry.KeyName, item.Sidecar, "generation", written.Generation)
	r.Recorder.Eventf(events.Reference(item.Ref), nil, corev1.EventTypeNormal, meta.ReasonLeftoverRemoved, string(plan.Remove),
		"removed the sidecar of %s, which does not exist", meta.Title(item.Sidecar))
	return true, finished
}

// readView reads a workload with a leftover from the API server. It returns nil if the workload does not exist or no
// longer has this leftover.
func (r *Reconciler) readView(ctx context.Context, item *companion.Leftover) (*workload.View, error) {
	object, err := removal.FindWorkload(ctx, r.Live, &item.Ref)
	if object == nil || err != nil {
		return nil, err
	}
	noneExists := func(string, string) bool { return false }
	leftovers := companion.FindLeftovers(slices.Values([]companion.Carrier{companion.NewCarrier(object)}), noneExists, r.WrittenBy)
	if !slices.ContainsFunc(leftovers, func(current companion.Leftover) bool {
		return current.Manager == item.Manager && current.Action == companion.Clean
	}) {
		return nil, nil
	}
	view := workload.NewView(object)
	return &view, nil
}

// reportFailure logs the failed removal of a leftover, and emits an event on the workload.
func (r *Reconciler) reportFailure(ctx context.Context, item *companion.Leftover, err error) {
	log.FromContext(ctx).Error(err, "removing a leftover", telemetry.KeyWorkload, status.WorkloadTitle(item.Ref), telemetry.KeyName, item.Sidecar)
	r.Recorder.Eventf(events.Reference(item.Ref), nil, corev1.EventTypeWarning, meta.ReasonLeftoverFound, string(plan.Remove),
		"removing the sidecar of %s, which does not exist: %s", meta.Title(item.Sidecar), humanize.ShortenMessage(err.Error(), events.NoteLimit))
}
