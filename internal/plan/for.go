// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func newPlan(manager string, desired *Desired, view *workload.View) Plan {
	owned := view.Owned[manager]
	_, isMarked := view.Marks[manager]
	return Plan{
		Target: view.Ref, Workload: view.State, Owner: view.Owner, LastWriter: view.LastWriter, Halted: view.Paused || view.Deleting,
		Manager: manager, Desired: desired, Change: None, Write: Write{ReleaseOnly: view.Adapter().Traits.AtomicLists},
		Existing: Existing{
			IsOwned: view.IsOwnedBy(manager), HasSidecar: len(owned.Containers)+len(owned.Volumes) > 0,
			IsMarked: isMarked, Waits: owned.Waits, HasFailureMark: owned.FailedBefore,
		},
	}
}

// ForBlocked returns the plan for a workload that cannot be written. If the workload opts out, the plan is for
// the opt-out instead.
func ForBlocked(manager string, view *workload.View, block Block) Plan {
	if isExcluded(view) {
		return forExcluded(manager, nil, view)
	}
	plan := newPlan(manager, nil, view)
	plan.Stop(block)
	return plan
}

// ForReported returns the plan for a workload that another source reports as up to date. The desired sidecar is
// the sidecar that the workload already has.
func ForReported(manager string, view *workload.View) Plan {
	desired := &Desired{overlay: &workload.Overlay{}, injectedHash: view.Owned[manager].InjectedHash}
	if isExcluded(view) {
		return forExcluded(manager, desired, view)
	}
	return newPlan(manager, desired, view)
}

// ForRemoval returns the plan for a workload that should not have fields of a manager.
func ForRemoval(manager string, view *workload.View) Plan {
	plan := newPlan(manager, nil, view)
	if plan.Existing.Waits && !plan.Existing.IsOwned && !view.Deleting {
		plan.DropWait(view)
	}
	if plan.Existing.IsMarked && !plan.Existing.IsOwned && !view.Deleting {
		plan.removeMarks(view)
	}
	if plan.Existing.IsOwned && !view.Deleting {
		plan.Change = Remove
		plan.block(plan.makeRemovalPatch(view))
		if owned := view.Owned[manager]; owned.IsEmpty() && plan.Write.Patch == nil && plan.Block == nil {
			plan.Change, plan.Write.ReleaseOnly = RecordOnly, true
		}
	}
	return plan
}

// removeMarks makes the plan remove the marks from a workload that has no other fields of the manager. The
// removal of marks on pods starts a rollout. These marks stay if they describe items in the manifest of a
// deployment tool.
func (p *Plan) removeMarks(view *workload.View) {
	marks := view.Marks[p.Manager]
	if p.Change == RecordOnly { // It removes the record that the workload waits.
		patch, err := withoutMarks(p.Manager, view)
		p.Write.Patch = patch
		p.block(err)
		return
	}
	if len(marks.PodAnnotations) > 0 && len(marks.SharedItems) == 0 {
		p.Change = Remove
		p.block(p.makeRemovalPatch(view))
		return
	}
	if len(marks.Annotations) == 0 {
		return
	}
	patch, err := withoutMarks(p.Manager, view)
	p.Change, p.Write.Apply, p.Write.Patch, p.Write.ReleaseOnly = RecordOnly, nil, patch, true
	p.block(err)
}

// isExcluded reports whether a workload opts out or is being deleted.
func isExcluded(view *workload.View) bool { return view.Deleting || view.OptOut != "" }

func forExcluded(manager string, desired *Desired, view *workload.View) Plan {
	plan := newPlan(manager, desired, view)
	switch {
	case view.Deleting:
		plan.Stop(Block{Kind: BlockedByExclusion, Reason: meta.ReasonWorkloadDeleting, Message: "the workload is being deleted"})
	case plan.Existing.IsOwned, plan.Existing.Waits:
		plan = ForRemoval(manager, view)
		plan.Write.Cause = fmt.Sprintf("the workload's annotation %s is %s", meta.AnnotationInject, quoteText(view.OptOut))
		return plan
	default:
		plan.Desired = nil
		plan.Stop(Block{Kind: BlockedByOptOut, Reason: meta.ReasonOptedOut, Message: fmt.Sprintf("annotation %s is %s", meta.AnnotationInject, view.OptOut)})
	}
	return plan
}

// forOwned returns the plan for a workload with a controller owner, for a VectorSidecar that skips such
// workloads.
func forOwned(manager string, view *workload.View) Plan {
	cause := view.Owner.String() + " owns it, and spec.ownedWorkloads is Skip"
	if plan := newPlan(manager, nil, view); !plan.Existing.IsOwned && !plan.Existing.Waits {
		plan.Stop(Block{Kind: BlockedByExclusion, Reason: meta.ReasonOwnedBy, Message: cause})
		return plan
	}
	plan := ForRemoval(manager, view)
	plan.Write.Cause = cause
	return plan
}

// ForInjection returns the plan for a workload that should have the desired sidecar.
func ForInjection(manager string, desired *Desired, policy Policy, view *workload.View) Plan {
	if isExcluded(view) {
		return forExcluded(manager, desired, view)
	}
	if policy.SkipsOwned && view.Owner != nil {
		return forOwned(manager, view)
	}
	if unreadMessage := view.Unread.Text(); unreadMessage != "" {
		return ForBlocked(manager, view, *newObstacle("%s; the workload is not changed until that field is corrected", unreadMessage))
	}
	desired = desired.Yielding(manager, view)
	plan := newPlan(manager, desired, view)
	owned, carries := view.Owned[manager], plan.Existing.IsOwned
	if reason, message := plan.exclusionReason(policy, view); reason != "" {
		plan.Desired = nil
		plan.Stop(Block{Kind: BlockedByExclusion, Reason: reason, Message: message})
		return plan
	}
	desiredBody := desired.bodyFor(manager, policy, view)
	diff := compare(manager, desired, &desiredBody, policy, view)
	obstacleIn := findObstacle
	if diff.isKept {
		obstacleIn = keptObstacle
	}
	isHalf := owned.Named || owned.Unfinished && diff.isCurrent()
	switch blocker := obstacleIn(manager, desired, policy, view); {
	case isHalf:
		// This trims the managed fields. The next reconcile makes the other changes.
		plan.Change, plan.Write.Cause = RecordOnly, causeInterrupted
	case blocker != nil:
		plan.Stop(*blocker)
	case desired.isAdmissionInjected(manager, &desiredBody, view):
		plan.adopt(desiredBody, policy, view)
	case view.Paused && (!carries || !diff.isCurrent()):
		plan.Stop(Block{Kind: BlockedByExclusion, Reason: meta.ReasonWorkloadPaused, Message: "rollouts are paused; the workload gets the sidecar when they are resumed"})
	case !carries, owned.IsEmpty():
		plan.write(Inject, desiredBody, diff, policy, view)
	case diff.isKept && policy.StrictOrder && isBehind(manager, view), diff.isRendered && policy.StrictOrder && isMisplaced(manager, desired, view):
		plan.write(Update, desiredBody, diff, policy, view)
	case diff.isKept:
		plan.Existing.UnchangedHash = owned.InjectedHash
	case diff.isRendered:
		if diff.needsNote(manager, &desiredBody, desired, view) {
			plan.note(desiredBody, diff, policy, view)
		}
	case !diff.isAsked && (diff.isStale || owned.InjectedHash != desired.InjectedHash()), owned.HasPlainAnnotations != desiredBody.isPlain, owned.Unfinished:
		plan.write(Update, desiredBody, diff, policy, view)
	case policy.ReportDrift:
		plan.Stop(Block{
			Kind: BlockedByObstacle, Reason: meta.ReasonDrifted,
			Message: fmt.Sprintf("the sidecar was changed (last recorded writer: %q), and spec.driftPolicy is Report", view.LastWriter),
		})
	default:
		plan.write(Update, desiredBody, diff, policy, view)
		plan.Write.Repairs, plan.Write.AtOnce = true, true
	}
	return plan
}

// exclusionReason returns the reason why a workload does not get the sidecar, or "" if it may get it. A
// workload that already has the sidecar keeps it, because a removal is a rollout. For example, its pods may
// have moved to Windows or to the host network, or spec.hostNetwork may have changed.
func (p *Plan) exclusionReason(policy Policy, view *workload.View) (reason, message string) {
	switch {
	case view.TemplateSource != "":
		return meta.ReasonTemplateInWorkloadRef, fmt.Sprintf("the pods have the template of %s, which gets the sidecar if spec.workloads lists its kind", view.TemplateSource)
	case p.Existing.IsOwned:
		return "", ""
	case view.Windows != "":
		return meta.ReasonWindows, "the pods run on Windows (" + view.Windows + "), but the sidecar is for Linux"
	case view.HostNetwork && !policy.HostNetwork:
		return meta.ReasonHostNetwork, "the pods use the host network, where the sidecar's ports are ports of the node; if these ports are free on each node, set spec.hostNetwork to Inject"
	}
	return "", ""
}

// note makes the plan record the current input. It keeps the cause that the workload records.
func (p *Plan) note(desiredBody applied, diff comparison, policy Policy, view *workload.View) {
	p.Change, p.Write.Force = RecordOnly, !policy.ReportDrift
	p.Write.Cause = p.changeCause(desiredBody, diff, policy, view)
	p.Write.Apply = p.annotatedBody(desiredBody, view.Owned[p.Manager].ChangeCause, policy, view)
	p.makePatch(view)
}

func (p *Plan) write(change Change, desiredBody applied, diff comparison, policy Policy, view *workload.View) {
	p.Change, p.Write.Force = change, !policy.ReportDrift
	p.Write.Cause = p.changeCause(desiredBody, diff, policy, view)
	p.Write.Apply = p.annotatedBody(desiredBody, p.Write.Cause, policy, view)
	p.Write.InitBefore, p.Write.InitAfter = order(p.Manager, p.Desired, view)
	p.Write.AtOnce = policy.Defers && p.Existing.IsOwned && (p.mends(diff, policy, view) || p.Desired.hasTemplate(p.Manager, &desiredBody, view))
	p.makePatch(view)
}

func (p *Plan) makePatch(view *workload.View) {
	patch, err := patchToApply(p, view)
	p.Write.Patch = patch
	p.block(err)
}

// block stops the plan if there is an error.
func (p *Plan) block(err error) {
	if err != nil {
		p.Stop(Block{Kind: BlockedByObstacle, Reason: meta.ReasonBlocked, Message: err.Error()})
	}
}
