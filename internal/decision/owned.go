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

// This file is about workloads that another operator owns. It may write all of them again at each of
// its reconciles, without the sidecar, and each of these rounds would be two rollouts. So it is
// believed the first time, for all of its kind in the namespace. Of a ClusterVectorSidecar that holds in
// others once several namespaces say so: whoever may write in one can name any owner there.

// HeldTakenOut returns the entries that still hold: none unless owned workloads get the sidecar from
// the operator, and none from before a person's last retry.
func HeldTakenOut(entries []v1alpha1.OwnerRemoval, spec *v1alpha1.VectorSidecarSpec, annotations map[string]string) []v1alpha1.OwnerRemoval {
	if spec.Owned() != v1alpha1.OwnedInject {
		return nil
	}
	retry := fleet.RetryOf(annotations)
	return slices.DeleteFunc(slices.Clone(entries), func(entry v1alpha1.OwnerRemoval) bool { return entry.Retry != retry })
}

// MergeTakenOut adds entries to others, which it may change: of two about the same the later one counts
// if a retry was between them, and else the first. What enough namespaces have found needs no more.
func MergeTakenOut(entries, removals []v1alpha1.OwnerRemoval) []v1alpha1.OwnerRemoval {
	for i := range removals {
		removal := &removals[i]
		index := slices.IndexFunc(entries, func(entry v1alpha1.OwnerRemoval) bool {
			return isOfKinds(&entry, removal.Kind, removal.OwnerKind) && entry.Namespace == removal.Namespace
		})
		switch {
		case index < 0 && !isBelieved(entries, removal):
			entries = append(entries, *removal)
		case index >= 0 && entries[index].Retry != removal.Retry && entries[index].RemovalTime.Before(&removal.RemovalTime):
			entries[index] = *removal
		}
	}
	for len(entries) > v1alpha1.MaxOwnerRemovals {
		entries = withoutOne(entries)
	}
	return entries
}

// withoutOne drops the first entry of the namespace that has most of those that are for itself alone, so
// that no namespace has what others found forgotten by finding more and more.
func withoutOne(entries []v1alpha1.OwnerRemoval) []v1alpha1.OwnerRemoval {
	counts, highest := map[string]int{}, 0
	for i := range entries {
		if namespace := entries[i].Namespace; !isBelieved(entries, &entries[i]) {
			counts[namespace]++
			highest = max(highest, counts[namespace])
		}
	}
	index := max(0, slices.IndexFunc(entries, func(entry v1alpha1.OwnerRemoval) bool {
		return counts[entry.Namespace] == highest && !isBelieved(entries, &entry)
	}))
	return slices.Delete(entries, index, index+1)
}

func isOfKinds(entry *v1alpha1.OwnerRemoval, kind, ownerKind string) bool {
	return entry.Kind == kind && entry.OwnerKind == ownerKind
}

// isBelieved reports whether so many namespaces have found what an entry says that it holds in all.
func isBelieved(entries []v1alpha1.OwnerRemoval, removal *v1alpha1.OwnerRemoval) bool {
	count := 0
	for i := range entries {
		if isOfKinds(&entries[i], removal.Kind, removal.OwnerKind) && entries[i].Retry == removal.Retry {
			count++
		}
	}
	return count >= v1alpha1.BelievedNamespaces
}

// takenOut returns the entry that holds for a workload, nil if there is none: that of its own namespace,
// where there is one.
func (d *Decision) takenOut(p *plan.Plan) *v1alpha1.OwnerRemoval {
	var fallback *v1alpha1.OwnerRemoval
	for i := range d.TakenOut {
		switch entry := &d.TakenOut[i]; {
		case !isOfKinds(entry, p.Target.Kind, p.Owner.Kind):
		case entry.IsIn(p.Target.Namespace):
			return entry
		case fallback == nil && isBelieved(d.TakenOut, entry):
			fallback = entry
		}
	}
	return fallback
}

// findTakenOut sets TakenOut, before anything is planned for the others.
func (d *Decision) findTakenOut(facts *Facts, workloads []Workload) {
	d.TakenOut = HeldTakenOut(facts.Sidecar.Status.RemovedByOwners, &facts.Sidecar.Spec, facts.Sidecar.Annotations)
	if facts.Owned != v1alpha1.OwnedInject {
		return
	}
	for i := range workloads {
		w := &workloads[i]
		if p := &w.Evaluated.Plan; facts.isTakenOut(p, w) {
			entry := v1alpha1.OwnerRemoval{
				Kind: p.Target.Kind, OwnerKind: p.Owner.Kind, Name: p.Target.Name, Owner: p.Owner.Name,
				RemovalTime: metav1.NewTime(facts.Now.Truncate(time.Second)), Retry: fleet.RetryOf(facts.Sidecar.Annotations),
			}
			if facts.Sidecar.Cluster != nil {
				entry.Namespace = p.Target.Namespace
			}
			d.TakenOut = MergeTakenOut(d.TakenOut, []v1alpha1.OwnerRemoval{entry})
		}
	}
}

// isTakenOut reports whether the owner of a workload has taken the sidecar out, or changed it: it had
// it, and nobody else is known to have done so. What is merely removed leaves no writer on record, so
// the last one counts only if it is a new one.
func (f *Facts) isTakenOut(p *plan.Plan, w *Workload) bool {
	isOut := p.Owner != nil && p.Desired != nil && p.StartsPods() && p.Action != plan.Remove && (!p.HasSidecar || p.Repairs)
	if !isOut || w.Record.Generation() <= w.Started { // Or the cache is stale.
		return false
	}
	// Its annotations say that it had one, but not whether that was before a retry.
	wasInjected := w.HasCarried || p.IsOwned && fleet.RetryOf(f.Sidecar.Annotations) == ""
	return wasInjected && (!meta.IsByHand(p.LastWriter) || p.LastWriter == w.LastWriter)
}

// leaveToOwner has a workload that another operator owns stay as it is where that one would take the
// sidecar out again, or is to put it in by its own writes, and says so before the first write of any.
func (d *Decision) leaveToOwner(facts *Facts, p *plan.Plan, w *Workload) {
	if p.Owner != nil && p.Action == plan.Adopt && w.HasCarried {
		// An owner that writes it whole makes it nobody's each time: to take it over again would be
		// an event for the owner, and so on for ever.
		p.Action, p.Apply, p.Cause = plan.None, nil, ""
	}
	if p.Owner == nil || p.Desired == nil || !p.StartsPods() || p.Action == plan.Remove {
		return
	}
	if facts.Owned == v1alpha1.OwnedAtAdmission {
		facts.leaveToAdmission(p)
		return
	}
	removal := d.takenOut(p)
	switch {
	case removal != nil && (!p.HasSidecar || facts.isTakenOut(p, w)):
		p.Action, p.Reason, p.Message = plan.Blocked, meta.ReasonRemovedByOwner, facts.takenOutText(p, removal)
	case p.Action == plan.Inject && p.Reason == "":
		p.Reason, p.Message = meta.ReasonOwnedBy, fmt.Sprintf(
			"%s owns it: if its operator takes the sidecar out, that is not put in again, in no %s with an owner of kind %s (spec.ownedWorkloads)", p.Owner, p.Target.Kind, p.Owner.Kind)
	}
}

// takenOutText says who has taken the sidecar out, and what a person may do.
func (f *Facts) takenOutText(p *plan.Plan, removal *v1alpha1.OwnerRemoval) string {
	text := fmt.Sprintf("%s owns it, and has taken the sidecar out or changed it", p.Owner)
	if removal.Name != p.Target.Name || !removal.IsIn(p.Target.Namespace) {
		text = fmt.Sprintf("%s owns it, and %s/%s, of the same kind, has taken the sidecar out of %s %s or changed it", p.Owner, removal.OwnerKind, removal.Owner, removal.Kind, removal.Name)
		if removal.Namespace != "" {
			text += " of namespace " + removal.Namespace
		}
	}
	argument := "vectorsidecar/" + f.Sidecar.Name
	if f.Sidecar.Cluster != nil {
		argument = f.Sidecar.Name // Which is such a pair.
	}
	return text + ": set spec.ownedWorkloads to AtAdmission or to Skip, or, to have it tried again: kubectl vectorsidecar rollout retry " + argument
}

// leaveToAdmission leaves a write to the API server, which makes it where the owner writes.
func (f *Facts) leaveToAdmission(p *plan.Plan) {
	if reason := f.unserved(p); reason != "" {
		p.Action, p.Reason = plan.Blocked, meta.ReasonOwnedBy
		p.Message = fmt.Sprintf("%s owns it, spec.ownedWorkloads is AtAdmission, and the API server does not put the sidecar in: %s", p.Owner, reason)
		return
	}
	p.Defer(meta.ReasonOwnedBy, fmt.Sprintf(
		"%s owns it: the API server puts this in with its owner's next change of the pod template, where it can judge the workload (spec.ownedWorkloads is AtAdmission)", p.Owner))
}

// unserved says why the API server does not put what is desired into a workload, "" if it may do so.
func (f *Facts) unserved(p *plan.Plan) string {
	if traits := &p.Target.Adapter().Traits; traits.Immutable != "" {
		return "admission injection does not apply to " + p.Target.Adapter().Plural
	}
	if f.Unserved != "" {
		return f.Unserved
	}
	reason := f.Left
	if len(f.Offers) > 0 {
		reason = "this one depends on the workload, as only the operator can tell"
	}
	for i := range f.Offers {
		offer := &f.Offers[i]
		if offer.Rendered.Desired.InjectedHash() != p.WholeHash() {
			continue
		}
		if reason = f.objectionIn(p.Target.Kind, offer); reason == "" && len(offer.Rendered.Overlay.Mounts) > 0 {
			reason = "the sidecar mounts a volume into the application's containers (sidecar.logs.containers)"
		}
		return reason
	}
	return reason
}
