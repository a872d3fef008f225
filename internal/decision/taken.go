// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Taken is the content with which a rollout was begun: of the ConfigMap that the values
// refer to, and of the namespace's defaults. Somebody may change these faster than
// rollouts finish. It must not be changed.
type Taken struct {
	// Generation of the VectorSidecar: whoever changes its spec wants what there is.
	Generation int64
	ConfigMaps map[string]*corev1.ConfigMap
}

// Decide judges a snapshot. memo may be nil. The error is the context's: whatever is wrong
// with the input is part of the decision.
//
// Content of a ConfigMap that changes while a rollout is under way is taken when that
// has finished or failed, else whoever changes it each second would keep pods restarting
// and never let the last workloads have their turn. What would be refused is told at once.
func Decide(ctx context.Context, snapshot *Snapshot, memo *Memo) (*Decision, error) {
	now, err := decideReading(ctx, snapshot, memo)
	if err != nil {
		return nil, err
	}
	if now.Invalid != nil || len(now.Unread) > 0 {
		now.Taken = snapshot.Taken
		return now, nil
	}
	changed := snapshot.Taken.changedIn(&now.Taken)
	if len(changed) > 0 {
		before := *snapshot
		before.ConfigMaps = maps.Clone(snapshot.ConfigMaps)
		for _, name := range changed {
			before.ConfigMaps[name] = snapshot.Taken.ConfigMaps[name]
		}
		begun, err := decideReading(ctx, &before, memo)
		if err != nil {
			return nil, err
		}
		if begun.isUnderWay() || len(begun.Unread) > 0 {
			begun.Waiting = changed
			return begun, nil
		}
	}
	if !now.isUnderWay() {
		now.Taken = Taken{}
	}
	return now, nil
}

// decideReading judges a snapshot, and notes what is taken for it.
func decideReading(ctx context.Context, snapshot *Snapshot, memo *Memo) (*Decision, error) {
	reading := *snapshot
	reading.reads = map[string]*corev1.ConfigMap{}
	decision, err := decideOn(ctx, &reading, memo)
	if err == nil {
		decision.Taken = Taken{Generation: snapshot.Sidecar.Generation, ConfigMaps: reading.reads}
	}
	return decision, err
}

// read reads a ConfigMap whose content may wait.
func (s *Snapshot) read(name string) *corev1.ConfigMap {
	object := s.configMap(name)
	if s.reads != nil && object != nil {
		s.reads[name] = object
	}
	return object
}

// changedIn are the names of ConfigMaps that have another content in what would be taken
// now, in order. One that is gone or new is no change of content.
func (t *Taken) changedIn(now *Taken) []string {
	if t.Generation != now.Generation {
		return nil
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(t.ConfigMaps)) {
		before, after := t.ConfigMaps[name], now.ConfigMaps[name]
		if after != nil && before != after && companion.Digest(before) != companion.Digest(after) {
			changed = append(changed, name)
		}
	}
	return changed
}

// isUnderWay reports whether a rollout goes on that will come to an end by itself: some
// workloads roll out or soak, or wait for those that do, and none has failed.
func (d *Decision) isUnderWay() bool {
	isMoving := false
	for i := range d.Plans {
		p := &d.Plans[i]
		if p.Failed || d.Invalid != nil {
			return false
		}
		isNext := p.StartsPods() && (p.Writes() || p.Reason == meta.ReasonWaitingForBudget)
		isMoving = isMoving || p.Desired != nil && p.Action != plan.Remove && (p.InFlight || isNext)
	}
	return isMoving
}
