// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// workloadGate decides whether one workload can have the sidecar. It does not depend on other workloads.
type workloadGate struct {
	// appliesToRemovals reports whether the gate also blocks the removal of a sidecar.
	appliesToRemovals bool
	// appliesToKept reports whether the gate also blocks a sidecar that stays unchanged. A gate that checks new items
	// of the workload does not.
	appliesToKept bool
	// dropsDesired reports whether a blocked workload should have no sidecar.
	dropsDesired bool
	block        func(c *candidate) *Block
}

// noWriteGates are the gates for workloads that must not get any write.
var noWriteGates = []workloadGate{
	{block: blockByDeletion},
	{dropsDesired: true, block: blockByOptOut},
}

// exclusionGates are the gates that do not depend on the desired sidecar. They are evaluated in this order, and the
// first block applies.
var exclusionGates = slices.Concat(noWriteGates, []workloadGate{
	{dropsDesired: true, block: blockBySuperseding},
	{dropsDesired: true, block: blockByOwner},
	{appliesToRemovals: true, dropsDesired: true, block: blockByUnread},
	{dropsDesired: true, block: blockByTemplateSource},
	{dropsDesired: true, block: blockByWindows},
	{dropsDesired: true, block: blockByHostNetwork},
})

// sidecarGates check the desired sidecar in the workload, after exclusionGates. They are evaluated in this order, and
// the first block applies. They find, for example, a container name or a port that is already used. The API server
// would accept some of these sidecars, and reject others with an unclear message.
var sidecarGates = []workloadGate{
	{block: blockByImmutableTemplate},
	{block: blockByCompletion},
	{block: blockByContainerName},
	{block: blockByMetadata},
	{block: blockByVolumeName},
	{block: blockByApplicationMounts},
	{block: blockByVolumesAndPorts},
	{appliesToKept: true, block: blockByKeptPorts},
	{appliesToKept: true, block: blockByPausedWorkload},
	{appliesToKept: true, block: blockByDrift},
}

// findWorkloadBlock returns the first block of the gates, with its gate, or nil if the workload can have its change.
// The gates do not check the completion of an interrupted write.
func findWorkloadBlock(gates []workloadGate, c *candidate) (workloadGate, *Block) {
	for _, gate := range gates {
		isSkipped := c.isRemoval() && !gate.appliesToRemovals || c.diff.keepsRendering && !gate.appliesToKept || c.diff.isInterrupted
		if isSkipped {
			continue
		}
		if block := gate.block(c); block != nil {
			return gate, block
		}
	}
	return workloadGate{}, nil
}

// isRemoval reports whether the candidate's workload should not have a sidecar.
func (c *candidate) isRemoval() bool { return c.desired == nil && c.change != "" }

// newExclusion returns a block for a workload that does not get the sidecar for a reason that is not an error.
func newExclusion(reason, format string, args ...any) *Block {
	return &Block{Kind: BlockedByExclusion, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// blockByDeletion blocks changes of a workload that is being deleted.
func blockByDeletion(c *candidate) *Block {
	if !c.view.Deleting {
		return nil
	}
	return newExclusion(meta.ReasonWorkloadDeleting, "the workload is being deleted")
}

// blockByOptOut blocks the injection into a workload that opts out.
func blockByOptOut(c *candidate) *Block {
	if c.view.OptOut == "" {
		return nil
	}
	return &Block{Kind: BlockedByOptOut, Reason: meta.ReasonOptedOut, Message: fmt.Sprintf("annotation %s is %s", meta.AnnotationInject, c.view.OptOut)}
}

// blockBySuperseding blocks the injection if a VectorSidecar with precedence injects a container of the same name.
func blockBySuperseding(c *candidate) *Block {
	if c.policy.Superseded == "" {
		return nil
	}
	return newExclusion(meta.ReasonSuperseded, "%s", c.policy.Superseded)
}

// blockByOwner blocks the injection into a workload with a controller owner if the VectorSidecar skips such workloads.
func blockByOwner(c *candidate) *Block {
	if !c.policy.SkipsOwned || c.view.Owner == nil {
		return nil
	}
	return newExclusion(meta.ReasonOwnedBy, "%s", skippedOwnerText(c))
}

// blockByUnread blocks changes of a workload with fields that could not be decoded. It blocks a removal only if the pod
// template could not be decoded.
func blockByUnread(c *candidate) *Block {
	switch {
	case c.change == Remove && c.view.Unread.Template != "":
		return newObstacle("the sidecar cannot be removed: %s; the operator retries after the field is corrected", c.view.Unread.Template)
	case c.change != "" || c.view.Unread.Text() == "":
		return nil
	}
	return newObstacle("%s; the workload is not changed until the field is corrected", c.view.Unread.Text())
}

// blockByTemplateSource blocks the injection into an Argo Rollout with the pod template of another workload
// (spec.workloadRef).
func blockByTemplateSource(c *candidate) *Block {
	if c.view.TemplateSource == "" {
		return nil
	}
	return newExclusion(meta.ReasonTemplateInWorkloadRef, "the pods have the template of %s, which gets the sidecar if spec.workloads lists its kind", c.view.TemplateSource)
}

// blockByWindows blocks the first injection into pods on Windows. A workload that already has the sidecar keeps it,
// because a removal is a rollout.
func blockByWindows(c *candidate) *Block {
	if c.view.Windows == "" || c.existing.IsOwned {
		return nil
	}
	return newExclusion(meta.ReasonWindows, "the pods run on Windows (%s), but the sidecar is for Linux", c.view.Windows)
}

// blockByHostNetwork blocks the first injection into pods on the host network. A workload that already has the sidecar
// keeps it, because a removal is a rollout.
func blockByHostNetwork(c *candidate) *Block {
	if !c.view.HostNetwork || c.policy.HostNetwork || c.existing.IsOwned {
		return nil
	}
	return newExclusion(meta.ReasonHostNetwork, "the pods use the host network, where the sidecar's ports are ports of the node; if these ports are free on each node, set spec.hostNetwork to Inject")
}

// blockByImmutableTemplate blocks changes of kinds with a pod template that cannot be changed after creation. The pod
// template of a manifest can be changed for every kind.
func blockByImmutableTemplate(c *candidate) *Block {
	kind := c.view.Adapter()
	if kind.Traits.Immutable == "" || c.policy.Manifests {
		return nil
	}
	return &Block{
		Kind: BlockedByObstacle, Reason: meta.ReasonTemplateImmutable,
		Message: fmt.Sprintf("the pod template of a %s cannot be changed: %s", kind.Kind, kind.Traits.Immutable),
	}
}

// blockByCompletion blocks a sidecar in an ordinary container for kinds that run to completion, because that container
// would keep the pods running.
func blockByCompletion(c *candidate) *Block {
	kind, containers := c.view.Adapter(), c.desired.overlay.Template.Spec.Containers
	if !kind.Traits.RunsToCompletion || len(containers) == 0 {
		return nil
	}
	return newObstacle("container %q would keep running after the other containers end, so that a run of the %s never ends; use a native sidecar (sidecar.native)", containers[0].Name, kind.Kind)
}

// blockByContainerName blocks a sidecar if its container has a name that another container of the workload already has.
func blockByContainerName(c *candidate) *Block {
	for _, list := range c.containerLists() {
		for i := range list {
			name := list[i].Name
			exists := slices.ContainsFunc(c.view.Containers, func(existing workload.Container) bool { return existing.Name == name })
			if !exists || slices.Contains(c.owned.Containers, name) {
				continue
			}
			if owner := c.view.ContainerOwner(name); owner != "" {
				return newConflict("container %q is already injected by %s; set another name in spec.sidecar.name of one of them", name, owner).withCompetitor(owner)
			}
			return newConflict("the workload already has a container %q; set another name in spec.sidecar.name", name)
		}
	}
	return nil
}

// blockByMetadata blocks a sidecar if another field manager owns its pod labels or annotations.
func blockByMetadata(c *candidate) *Block { return metadataConflict(c.manager, c.desired, c.view) }

// blockByVolumeName blocks a sidecar if its volume has a name that another volume of the workload already has.
func blockByVolumeName(c *candidate) *Block {
	volumes := c.desired.overlay.Template.Spec.Volumes
	for i := range volumes {
		name := volumes[i].Name
		if c.view.HasVolume(name) && !slices.Contains(c.owned.Volumes, name) {
			return newConflict("the workload already has a volume %q; use another name for the sidecar's volume", name).withCompetitor(c.view.VolumeOwner(name))
		}
	}
	return nil
}

// blockByApplicationMounts blocks a sidecar with a mount that an application container cannot have.
func blockByApplicationMounts(c *candidate) *Block {
	return applicationConflict(c.desired.overlay.Mounts, c.owned, c.view)
}

// blockByVolumesAndPorts blocks a sidecar if its container mounts a missing volume, or declares a port of another
// container.
func blockByVolumesAndPorts(c *candidate) *Block {
	for _, list := range c.containerLists() {
		for i := range list {
			if block := missingVolume(&list[i], &c.desired.overlay.Template.Spec, c.owned, c.view); block != nil {
				return block
			}
			if block := portConflict(&list[i], c.owned, c.view); block != nil {
				return block
			}
		}
	}
	return nil
}

// blockByKeptPorts blocks a sidecar that stays unchanged if another container now declares one of its ports. All other
// conflicts are impossible after the injection.
func blockByKeptPorts(c *candidate) *Block {
	if !c.diff.keepsRendering {
		return nil
	}
	for i := range c.view.Containers {
		container := &c.view.Containers[i]
		if !slices.Contains(c.owned.Containers, container.Name) {
			continue
		}
		if block := portConflict(&corev1.Container{Name: container.Name, Ports: container.Ports}, c.owned, c.view); block != nil {
			return block
		}
	}
	return nil
}

// blockByPausedWorkload blocks changes of the pod template of a paused workload.
func blockByPausedWorkload(c *candidate) *Block {
	if !c.view.Paused || c.change == Adopt || c.existing.IsOwned && c.diff.isCurrent() {
		return nil
	}
	return newExclusion(meta.ReasonWorkloadPaused, "the workload is paused (spec.paused); the operator changes the sidecar after the workload is resumed")
}

// blockByDrift blocks the correction of manual changes if spec.driftPolicy is Report.
func blockByDrift(c *candidate) *Block {
	if !c.diff.isDrift || !c.policy.ReportDrift {
		return nil
	}
	return &Block{
		Kind: BlockedByObstacle, Reason: meta.ReasonDrifted,
		Message: fmt.Sprintf("another client changed the sidecar (last recorded writer: %q), and the operator does not correct the sidecar, because spec.driftPolicy is Report", c.view.LastWriter),
	}
}

// containerLists returns the containers of the desired sidecar.
func (c *candidate) containerLists() [][]corev1.Container {
	spec := &c.desired.overlay.Template.Spec
	return [][]corev1.Container{spec.InitContainers, spec.Containers}
}
