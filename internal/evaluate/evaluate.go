// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package evaluate makes the decision for one VectorSidecar from an Input: it renders the desired sidecars (package
// desired) and decides how workloads change (package decision). The operator, the plugin and the tests use it, so
// that a preview shows the operator's decisions. It does not read a clock, and reads ConfigMaps and ServiceAccounts
// only through the interfaces of an Input.
package evaluate

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// Decide decides what to write to each workload of a VectorSidecar. The cache may be nil. It returns an error if an
// object cannot be read, and the context's error. Errors in the input are part of the decision.
//
// If the content of a ConfigMap changes during a rollout, the new content is used after the rollout has finished or
// failed. Otherwise a client that changes the ConfigMap every second would keep restarting pods, and the last workloads
// would never be updated. Invalid content is reported at once.
func Decide(ctx context.Context, input *decision.Input, cache *desired.Cache) (*decision.Decision, error) {
	current, err := decideOn(ctx, input, cache)
	if err != nil {
		return nil, err
	}
	if current.Invalid != nil {
		current.Adopted = input.Adopted
		return current, nil
	}
	changed := input.Adopted.ChangedIn(&current.Adopted)
	if len(changed) > 0 {
		pinnedInput := *input
		pinnedInput.Pinned = map[string]*corev1.ConfigMap{}
		for _, key := range changed {
			pinnedInput.Pinned[key] = input.Adopted.ConfigMaps[key]
		}
		pinnedDecision, err := decideOn(ctx, &pinnedInput, cache)
		if err != nil {
			return nil, err
		}
		if pinnedDecision.IsInProgress() {
			pinnedDecision.Waiting = changed
			return pinnedDecision, nil
		}
	}
	if !current.IsInProgress() {
		current.Adopted = decision.Adopted{}
	}
	return current, nil
}

// decideOn makes the decision with the ConfigMaps of the Input, and records the content that it used.
func decideOn(ctx context.Context, input *decision.Input, cache *desired.Cache) (*decision.Decision, error) {
	sidecar := input.Sidecar
	inject, remove, kinds, invalid := decision.Match(sidecar, input.Workloads, input.Offer)
	reader := desired.NewReader(ctx, &input.Inputs)
	defer reader.Release()
	adopted := decision.Adopted{Generation: sidecar.Generation}
	if lastgood.IsReverted(sidecar) { // A revert counts as a change of the spec.
		adopted.Generation = -sidecar.Generation
	}
	if invalid != nil || sidecar.Orphans() {
		return &decision.Decision{Common: desired.Common{Invalid: invalid}, Adopted: adopted, OwnerRemovals: sidecar.Status.RemovedByOwners, IsForDeletion: sidecar.DeletionTimestamp != nil}, nil
	}
	p := newPass(input, reader)
	p.facts.Kinds = kinds
	var injected []decision.Workload
	if sidecar.DeletionTimestamp == nil {
		p.setDesired(desired.New(&input.Inputs, reader, cache))
		adopted.ConfigMaps = p.wanted.Read()
		if err := reader.WaitForTurn(); err != nil {
			return nil, err
		}
		p.addPreceding(cache, inject)
		var err error
		if injected, err = p.inject(ctx, inject); err != nil {
			return nil, err
		}
		if input.Offers && sidecar.Spec.IsEnabled() {
			p.offer(ctx, injected)
		}
	}
	d := decision.Decide(&p.facts, injected, p.remove(remove))
	if err := reader.Err(); err != nil {
		return nil, err
	}
	d.Adopted, d.References = adopted, reader.ConfigMapKeys()
	return d, nil
}
