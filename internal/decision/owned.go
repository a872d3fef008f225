// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// This file is about workloads with a controller owner. The owner's controller may write its workloads without the sidecar
// in each of its reconciles. Each such write and its correction would be two rollouts. So after one removal, the operator
// stops injecting into all workloads of the namespace with the same kind and the same kind of owner. For a
// ClusterVectorSidecar, removals in several namespaces are necessary before they apply in other namespaces, because any
// user with write access to a namespace can name any owner there.

// ActiveOwnerRemovals returns the removals of the sidecar by controller owners that still apply: all since the last retry
// by a user. None apply if spec.ownedWorkloads is not Inject.
func ActiveOwnerRemovals(entries []v1alpha1.OwnerRemoval, spec *v1alpha1.VectorSidecarSpec, annotations map[string]string) []v1alpha1.OwnerRemoval {
	if spec.Owned() != v1alpha1.OwnedInject {
		return nil
	}
	retry := fleet.RetryDigest(annotations)
	return slices.DeleteFunc(slices.Clone(entries), func(entry v1alpha1.OwnerRemoval) bool { return entry.Retry != retry })
}

// MergeOwnerRemovals adds new owner removals to the recorded ones, which it may change. Of two removals for the same
// kinds and namespace, the later one counts if a user retried between them, and otherwise the first one. A removal for
// kinds that enough namespaces have reported is not added.
func MergeOwnerRemovals(entries, removals []v1alpha1.OwnerRemoval) []v1alpha1.OwnerRemoval {
	for i := range removals {
		removal := &removals[i]
		index := slices.IndexFunc(entries, func(entry v1alpha1.OwnerRemoval) bool {
			return isOfKinds(&entry, removal.Kind, removal.OwnerKind) && entry.Namespace == removal.Namespace
		})
		switch {
		case index < 0 && !appliesEverywhere(entries, removal):
			entries = append(entries, *removal)
		case index >= 0 && entries[index].Retry != removal.Retry && entries[index].RemovalTime.Before(&removal.RemovalTime):
			entries[index] = *removal
		}
	}
	for len(entries) > v1alpha1.MaxOwnerRemovals {
		entries = dropOwnerRemoval(entries)
	}
	return entries
}

// dropOwnerRemoval drops one owner removal to stay within the limit. It is from the namespace with the most removals that
// apply only there, so that a namespace cannot displace the removals of other namespaces.
func dropOwnerRemoval(entries []v1alpha1.OwnerRemoval) []v1alpha1.OwnerRemoval {
	counts, highest := map[string]int{}, 0
	for i := range entries {
		if namespace := entries[i].Namespace; !appliesEverywhere(entries, &entries[i]) {
			counts[namespace]++
			highest = max(highest, counts[namespace])
		}
	}
	index := max(0, slices.IndexFunc(entries, func(entry v1alpha1.OwnerRemoval) bool {
		return counts[entry.Namespace] == highest && !appliesEverywhere(entries, &entry)
	}))
	return slices.Delete(entries, index, index+1)
}

// isOfKinds reports whether an owner removal is for a kind of workloads with a kind of owners.
func isOfKinds(entry *v1alpha1.OwnerRemoval, kind, ownerKind string) bool {
	return entry.Kind == kind && entry.OwnerKind == ownerKind
}

// appliesEverywhere reports whether enough namespaces have reported an owner removal, so that it applies in all
// namespaces.
func appliesEverywhere(entries []v1alpha1.OwnerRemoval, removal *v1alpha1.OwnerRemoval) bool {
	count := 0
	for i := range entries {
		if isOfKinds(&entries[i], removal.Kind, removal.OwnerKind) && entries[i].Retry == removal.Retry {
			count++
		}
	}
	return count >= v1alpha1.BelievedNamespaces
}

// ownerRemovalFor returns the owner removal that applies to a workload, or nil for none. A removal in the workload's own
// namespace takes precedence.
func (d *Decision) ownerRemovalFor(p *plan.Plan) *v1alpha1.OwnerRemoval {
	var fallback *v1alpha1.OwnerRemoval
	for i := range d.OwnerRemovals {
		switch entry := &d.OwnerRemovals[i]; {
		case !isOfKinds(entry, p.Target.Kind, p.Owner.Kind):
		case entry.IsIn(p.Target.Namespace):
			return entry
		case fallback == nil && appliesEverywhere(d.OwnerRemovals, entry):
			fallback = entry
		}
	}
	return fallback
}

// findOwnerRemovals adds a removal for each workload from which its controller owner removed the sidecar. It runs before
// other workloads are planned.
func (d *Decision) findOwnerRemovals(input *Input, workloads []evaluatedWorkload) {
	d.OwnerRemovals = ActiveOwnerRemovals(input.Sidecar.Status.RemovedByOwners, &input.Sidecar.Spec, input.Sidecar.Annotations)
	if input.Sidecar.Spec.Owned() != v1alpha1.OwnedInject {
		return
	}
	for i := range workloads {
		if p := &workloads[i].Evaluated.Plan; input.isRemovedByOwner(p, workloads[i].Record.Generation()) {
			entry := v1alpha1.OwnerRemoval{
				Kind: p.Target.Kind, OwnerKind: p.Owner.Kind, Name: p.Target.Name, Owner: p.Owner.Name,
				RemovalTime: metav1.NewTime(input.Now.Truncate(time.Second)), Retry: fleet.RetryDigest(input.Sidecar.Annotations),
			}
			if meta.IsOfCluster(input.Sidecar.Name) {
				entry.Namespace = p.Target.Namespace
			}
			d.OwnerRemovals = MergeOwnerRemovals(d.OwnerRemovals, []v1alpha1.OwnerRemoval{entry})
		}
	}
}

// isRemovedByOwner reports whether the controller owner of a workload has removed or changed the sidecar. The workload
// must have had the sidecar, and no other client may be known to have removed it. A removal does not record a writer.
// So a last writer by hand excludes the owner only if it is another one than when the workload had the sidecar.
func (input *Input) isRemovedByOwner(p *plan.Plan, generation int64) bool {
	lacksSidecar := p.Owner != nil && p.Desired != nil && p.StartsPods() && p.Change != plan.Remove && (!p.Existing.HasSidecar || p.Write.Repairs)
	if !lacksSidecar || generation <= input.writtenGeneration(p.Target.UID) { // If the generation is not newer, the cache is stale.
		return false
	}
	// The annotations of the workload record that it had a sidecar, but not whether that was before a retry.
	lastWriter, hadSidecar := input.ownedSidecar(p)
	wasInjected := hadSidecar || p.Existing.IsOwned && fleet.RetryDigest(input.Sidecar.Annotations) == ""
	return wasInjected && (!meta.IsByHand(p.LastWriter) || p.LastWriter == lastWriter)
}

// ownerNotice returns a message about the controller owner if a workload gets its first sidecar, otherwise "".
func (g *gateInput) ownerNotice() string {
	p := g.plan
	if p.Owner == nil || !p.HasChange(plan.Inject) {
		return ""
	}
	return fmt.Sprintf("%s owns the workload; if that owner removes the sidecar, the operator does not inject it again into any %s with an owner of kind %s (spec.ownedWorkloads)", p.Owner, p.Target.Kind, p.Owner.Kind)
}

// ownerRemovalText explains which owner removed the sidecar, and the actions that a user may take.
func (input *Input) ownerRemovalText(p *plan.Plan, removal *v1alpha1.OwnerRemoval) string {
	text := fmt.Sprintf("%s owns the workload, and has removed or changed the sidecar", p.Owner)
	if removal.Name != p.Target.Name || !removal.IsIn(p.Target.Namespace) {
		text = fmt.Sprintf("%s owns the workload, and %s/%s of the same kind has removed or changed the sidecar of %s %s", p.Owner, removal.OwnerKind, removal.Owner, removal.Kind, removal.Name)
		if removal.Namespace != "" {
			text += " in namespace " + removal.Namespace
		}
	}
	return text + "; set spec.ownedWorkloads to AtAdmission or Skip, or retry: kubectl vectorsidecar rollout retry " + meta.Argument(input.Sidecar.Name)
}

// admissionBlocker explains why the API server does not inject the desired sidecar into a workload. It returns "" if the
// API server may inject it.
func (e *evaluation) admissionBlocker(p *plan.Plan) string {
	if traits := &p.Target.Adapter().Traits; traits.Immutable != "" {
		return "admission injection does not apply to " + p.Target.Adapter().Plural
	}
	if e.AdmissionBlocker != "" {
		return e.AdmissionBlocker
	}
	reason := e.overlayBlocker
	if len(e.overlays) > 0 {
		reason = "only the operator can render the sidecar, because it depends on the workload"
	}
	for i := range e.overlays {
		overlay := &e.overlays[i]
		if overlay.Rendered.Desired.InjectedHash() != p.WholeHash() {
			continue
		}
		if reason = e.overlayBlockerFor(p.Target.Kind, overlay); reason == "" && len(overlay.Rendered.Overlay.Mounts) > 0 {
			reason = "the sidecar mounts a volume into the application's containers (sidecar.logs.containers)"
		}
		return reason
	}
	return reason
}
