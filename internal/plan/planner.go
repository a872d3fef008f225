// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// candidate is a workload together with the sidecar that it should have. It is the input of the change rules and the
// workload gates, which do not change it.
type candidate struct {
	manager string
	// desired is the desired sidecar, or nil if the workload should not have a sidecar.
	desired  *Desired
	policy   Policy
	view     *workload.View
	owned    workload.OwnedFields
	existing Existing
	// change is the change that a rule or the comparison has chosen. It is "" before that.
	change Change
	// body is the apply body of the desired sidecar in the workload. diff is the comparison of the two.
	body applyBody
	diff comparison
}

func newCandidate(manager string, desired *Desired, policy Policy, view *workload.View) *candidate {
	owned := view.Owned[manager]
	_, isMarked := view.Marks[manager]
	return &candidate{
		manager: manager, desired: desired, policy: policy, view: view, owned: owned,
		existing: Existing{
			IsOwned: view.IsOwnedBy(manager), HasSidecar: len(owned.Containers)+len(owned.Volumes) > 0,
			IsMarked: isMarked, Waits: owned.Waits, HasFailureMark: owned.FailedBefore,
		},
	}
}

// withComparison returns a copy of the candidate with a desired sidecar that fits the workload, and with the comparison
// of the two.
func (c *candidate) withComparison() *candidate {
	fitting := *c
	fitting.desired = c.desired.OmitOptional(c.manager, c.view)
	// A new text in AnnotationAbout is not a difference. The workload gets the text when its pod template changes anyway.
	currentText := fitting.desired.notes.AboutText
	recordedText := currentText
	if owned := c.view.Owned[c.manager]; !owned.IsEmpty() {
		recordedText = aboutTextIn(c.manager, c.view)
	}
	fitting.body = fitting.desired.bodyFor(c.manager, c.policy, c.view, recordedText)
	fitting.change, fitting.diff = compare(&fitting)
	isChange := fitting.change == Inject || fitting.change == Update
	if isChange && recordedText != currentText && !fitting.desired.hasTemplate(c.manager, &fitting.body, c.view) {
		fitting.body = fitting.desired.bodyFor(c.manager, c.policy, c.view, currentText)
	}
	return &fitting
}

// plan returns the plan that writes the candidate's change.
func (c *candidate) plan(write Write) Plan {
	existing := c.existing
	if c.change == None && c.diff.keepsRendering {
		existing.UnchangedHash = c.owned.InjectedHash
	}
	return c.newPlan(existing, c.change, write, nil)
}

// blockedPlan returns the plan of a candidate with a block and without a change.
func (c *candidate) blockedPlan(block *Block) Plan {
	return c.newPlan(c.existing, None, c.newWrite(), block)
}

// newPlan returns a plan for the candidate's workload.
func (c *candidate) newPlan(existing Existing, change Change, write Write, block *Block) Plan {
	view := c.view
	return Plan{
		Target: view.Ref, Workload: view.State, Owner: view.Owner, LastWriter: view.LastWriter, Halted: view.Paused || view.Deleting,
		Manager: c.manager, Existing: existing, Desired: c.desired, Change: change, Write: write, Block: block,
	}
}

// withoutDesired returns a copy of the candidate for a workload that should not have a sidecar.
func (c *candidate) withoutDesired(change Change) *candidate {
	bare := *c
	bare.desired, bare.change = nil, change
	return &bare
}

// exclusionPlan returns the plan of a workload that must not get the sidecar because of a change rule or a gate. It
// returns false if the workload should get the sidecar.
func (c *candidate) exclusionPlan(gates []workloadGate) (Plan, bool) {
	if cause := removalCause(c); cause != "" {
		return c.removal(cause), true
	}
	gate, block := findWorkloadBlock(gates, c)
	switch {
	case block == nil:
		return Plan{}, false
	case gate.dropsDesired:
		return c.withoutDesired(None).blockedPlan(block), true
	}
	return c.blockedPlan(block), true
}

// ForBlocked returns the plan of a workload that cannot be written because of a block. If the workload opts out or is
// being deleted, the plan reports that instead of the block.
func ForBlocked(manager string, view *workload.View, block Block) Plan {
	c := newCandidate(manager, nil, Policy{}, view)
	if p, ok := c.exclusionPlan(noWriteGates); ok {
		return p
	}
	return c.blockedPlan(&block)
}

// ForReported returns the plan of a workload that is up to date according to the status of its VectorSidecar. The plan
// has no change. It has a block only if the workload must not get any write, as after an opt-out.
func ForReported(manager string, view *workload.View) Plan {
	desired := &Desired{overlay: &workload.Overlay{}, injectedHash: view.Owned[manager].InjectedHash}
	c := newCandidate(manager, desired, Policy{}, view)
	if p, ok := c.exclusionPlan(noWriteGates); ok {
		return p
	}
	c.change = None
	return c.plan(c.newWrite())
}

// ForRemoval returns the plan that removes all fields and marks of a manager from a workload.
func ForRemoval(manager string, view *workload.View) Plan {
	return newCandidate(manager, nil, Policy{}, view).removal("")
}

// removal returns the plan that removes the sidecar from the workload. cause explains the removal, or is "".
func (c *candidate) removal(cause string) Plan {
	c = c.withoutDesired(c.removalChange())
	if _, block := findWorkloadBlock(exclusionGates, c); block != nil {
		return c.blockedPlan(block)
	}
	write, err := c.removalWrite()
	if err != nil {
		return c.blockedPlan(newObstacle("%s", err))
	}
	if c.change == Remove && c.existing.IsOwned && c.owned.IsEmpty() && write.Patch == nil {
		c = c.withoutDesired(RecordOnly) // Only the record of the manager is left to remove.
		write.ReleaseOnly = true
	}
	write.Cause = cause
	return c.plan(write)
}

// ForInjection returns the plan for a workload that should have the desired sidecar.
func ForInjection(manager string, desired *Desired, policy Policy, view *workload.View) Plan {
	c := newCandidate(manager, desired, policy, view)
	if p, ok := c.exclusionPlan(exclusionGates); ok {
		return p
	}
	c = c.withComparison()
	if _, block := findWorkloadBlock(sidecarGates, c); block != nil {
		return c.blockedPlan(block)
	}
	write, err := c.write()
	if err != nil {
		return c.blockedPlan(newObstacle("%s", err))
	}
	return c.plan(write)
}

// newWrite returns a write that does not change fields yet. For kinds with atomic lists, the write removes the manager
// from managedFields, because an empty apply would remove nothing.
func (c *candidate) newWrite() Write {
	return Write{ReleaseOnly: c.view.Adapter().Traits.AtomicLists}
}

// write returns the write that makes the candidate's change.
func (c *candidate) write() (Write, error) {
	write, diff := c.newWrite(), &c.diff
	switch {
	case c.change == None:
		return write, nil
	case diff.isInterrupted: // The write trims the managed fields. The next reconcile makes the other changes.
		write.Cause = causeInterrupted
		return write, nil
	}
	write.Force = !c.policy.ReportDrift
	switch c.change {
	case Adopt: // The apply of the whole sidecar does not change pods, because they already have it.
		write.Cause = causeAdmission
		write.Apply = c.annotatedBody(write.Cause)
		if !c.view.Adapter().Traits.AtomicLists {
			return write, nil
		}
	case RecordOnly: // The annotations keep the cause of the last write of the pod template.
		write.Cause = c.changeCause()
		write.Apply = c.annotatedBody(c.owned.ChangeCause)
	default:
		write.Cause = c.changeCause()
		write.Apply = c.annotatedBody(write.Cause)
		write.InitBefore, write.InitAfter = initOrder(c.manager, c.desired, c.view)
		write.Repairs = diff.isDrift
		write.AtOnce = diff.isDrift || c.policy.Defers && c.existing.IsOwned && (c.fixesSidecar() || c.desired.hasTemplate(c.manager, &c.body, c.view))
	}
	patch, err := c.patch(&write)
	write.Patch = patch
	return write, err
}

// removalChange returns the change that removes all fields and marks of the manager. It returns None if there are none,
// or if the workload is being deleted.
func (c *candidate) removalChange() Change {
	marks := c.view.Marks[c.manager]
	switch {
	case c.view.Deleting:
		return None
	case c.existing.IsOwned:
		return Remove
	case c.existing.Waits:
		return RecordOnly
	case len(marks.PodAnnotations) > 0 && len(marks.SharedItems) == 0: // Marks on pods stay if they describe items that a deployment tool has copied.
		return Remove
	case len(marks.Annotations) > 0:
		return RecordOnly
	}
	return None
}

// removalWrite returns the write that makes the change of removalChange.
func (c *candidate) removalWrite() (Write, error) {
	switch {
	case c.change == Remove:
		return c.removalContent()
	case c.change == RecordOnly && c.existing.Waits:
		patch, err := c.marksPatch()
		return Write{Apply: NewWaitRemoval(c.manager, c.view), Patch: patch}, err
	case c.change == RecordOnly:
		patch, err := c.marksPatch()
		return Write{Patch: patch, ReleaseOnly: true}, err
	}
	return c.newWrite(), nil
}
