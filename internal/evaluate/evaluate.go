// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// Decide makes the decision for a snapshot. The cache may be nil. It returns an error if an object cannot be read, and
// the context's error. Errors in the input are part of the decision.
//
// If the content of a ConfigMap changes during a rollout, the new content is used after the rollout has finished or
// failed. Otherwise a client that changes the ConfigMap every second would keep restarting pods, and the last workloads
// would never be updated. Invalid content is reported at once.
func Decide(ctx context.Context, snapshot *Snapshot, cache *desired.Cache) (*decision.Decision, error) {
	current, err := decideOn(ctx, snapshot, cache)
	if err != nil {
		return nil, err
	}
	if current.Invalid != nil {
		current.Adopted = snapshot.Adopted
		return current, nil
	}
	changed := snapshot.Adopted.ChangedIn(&current.Adopted)
	if len(changed) > 0 {
		pinnedSnapshot := *snapshot
		pinnedSnapshot.Pinned = map[string]*corev1.ConfigMap{}
		for _, key := range changed {
			pinnedSnapshot.Pinned[key] = snapshot.Adopted.ConfigMaps[key]
		}
		pinnedDecision, err := decideOn(ctx, &pinnedSnapshot, cache)
		if err != nil {
			return nil, err
		}
		if pinnedDecision.IsUnderWay() {
			pinnedDecision.Waiting = changed
			return pinnedDecision, nil
		}
	}
	if !current.IsUnderWay() {
		current.Adopted = decision.Adopted{}
	}
	return current, nil
}

// decideOn makes the decision with the ConfigMaps of the snapshot, and records the content that it used.
func decideOn(ctx context.Context, snapshot *Snapshot, cache *desired.Cache) (*decision.Decision, error) {
	sidecar := snapshot.Sidecar
	inject, remove, kinds, invalid := decision.Match(sidecar, snapshot.Workloads, snapshot.Offer)
	reader := desired.NewReader(ctx, &snapshot.Inputs)
	defer reader.Release()
	adopted := decision.Adopted{Generation: sidecar.Generation}
	if lastgood.IsBack(sidecar) { // A revert counts as a change of the spec.
		adopted.Generation = -sidecar.Generation
	}
	if invalid != nil || sidecar.Orphans() {
		return &decision.Decision{Invalid: invalid, Adopted: adopted, TakenOut: sidecar.Status.RemovedByOwners, IsForDeletion: sidecar.DeletionTimestamp != nil}, nil
	}
	p := newPass(snapshot, reader, sidecar)
	p.facts.Kinds = kinds
	var injected []decision.Workload
	if sidecar.DeletionTimestamp == nil {
		p.desire(desired.New(&snapshot.Inputs, reader, cache))
		adopted.ConfigMaps = p.wanted.Read()
		if err := reader.WaitForTurn(); err != nil {
			return nil, err
		}
		p.addElders(snapshot, cache, inject)
		var err error
		if injected, err = p.inject(ctx, snapshot, inject); err != nil {
			return nil, err
		}
		if snapshot.Offers && sidecar.Spec.IsEnabled() {
			p.offer(ctx, injected)
		}
	}
	removed := p.remove(snapshot, remove)
	p.look(snapshot, injected)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	p.facts.Asked = reader.ConfigMapKeys()
	d := decision.Decide(&p.facts, injected, removed)
	d.Adopted = adopted
	return d, nil
}
