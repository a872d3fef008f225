// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"maps"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// Decide decides on a snapshot. cache may be nil. The error is the context's: whatever
// is wrong with the input is part of the decision.
//
// If the content of a ConfigMap changes during a rollout, it is used when the rollout
// has finished or failed. Otherwise somebody who changes it every second would keep
// restarting pods, and the last workloads would never be updated. Invalid content is
// reported at once.
func Decide(ctx context.Context, snapshot *Snapshot, cache *desired.Cache) (*decision.Decision, error) {
	now, err := decideOn(ctx, snapshot, cache)
	if err != nil {
		return nil, err
	}
	if now.Invalid != nil || now.IsIncomplete() {
		now.Adopted = snapshot.Adopted
		return now, nil
	}
	changed := snapshot.Adopted.ChangedIn(&now.Adopted)
	if len(changed) > 0 {
		before := *snapshot
		before.ConfigMaps = maps.Clone(snapshot.ConfigMaps)
		for _, name := range changed {
			before.ConfigMaps[name] = snapshot.Adopted.ConfigMaps[name]
		}
		begun, err := decideOn(ctx, &before, cache)
		if err != nil {
			return nil, err
		}
		if begun.IsUnderWay() || begun.IsIncomplete() {
			begun.Waiting = changed
			return begun, nil
		}
	}
	if !now.IsUnderWay() {
		now.Adopted = decision.Adopted{}
	}
	return now, nil
}

// decideOn decides with the ConfigMaps that the snapshot has, and records the content
// used.
func decideOn(ctx context.Context, snapshot *Snapshot, cache *desired.Cache) (*decision.Decision, error) {
	sidecar := snapshot.Sidecar
	inject, remove, kinds, invalid := decision.Match(sidecar, snapshot.Workloads, snapshot.Offer)
	reader := desired.NewReader(ctx, &snapshot.Inputs)
	defer reader.Release()
	taken := decision.Adopted{Generation: sidecar.Generation}
	if lastgood.IsBack(sidecar) { // As after a change of the spec.
		taken.Generation = -sidecar.Generation
	}
	if invalid != nil || sidecar.Orphans() {
		return &decision.Decision{Invalid: invalid, Adopted: taken, TakenOut: sidecar.Status.RemovedByOwners}, nil
	}
	p := newPass(snapshot, reader, sidecar)
	p.facts.Kinds = kinds
	var injected []decision.Workload
	if sidecar.DeletionTimestamp == nil {
		p.desire(desired.New(&snapshot.Inputs, reader, cache))
		taken.ConfigMaps = p.wanted.Read()
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
	var unread []string
	p.facts.Asked, unread = reader.ConfigMapNames()
	decided := decision.Decide(&p.facts, injected, removed)
	decided.Adopted, decided.Unread, decided.UnreadAccounts = taken, unread, reader.LackedAccounts()
	if decided.IsIncomplete() {
		decided.Previous = nil // It was evaluated without them.
	}
	return decided, nil
}
