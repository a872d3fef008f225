// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"crypto/sha256"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// predecessor is what releases that noted nothing in workloads would have rendered; nil
// for a workload that carries nothing, or says what its sidecar was asked for with: only
// others are known by it.
func (b *batch) predecessor(ctx context.Context, manager string, view *workload.View) *wanted {
	if owned, carries := view.Owned[manager]; !carries || owned.AskedHash != "" {
		return nil
	}
	common := sha256.Sum256(append([]byte("predecessor "), b.common...))
	before := *b
	before.request.Predecessor, before.common = true, common[:]
	return before.want(ctx, view)
}

// hasLost reports whether a sidecar cannot be kept, because a ConfigMap of it is gone
// that is not rendered any more: its next pods would not start.
func (s *Snapshot) hasLost(manager string, desired *plan.Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return slices.ContainsFunc(owned.ConfigMaps(), func(name string) bool {
		return !desired.Mounts(name) && s.find(name) == nil
	})
}

// keep notes the ConfigMaps of a sidecar that is kept. Of the companions of today it
// leaves those that have to be written in the place of one that is gone, or that
// somebody has changed: what it held before is not rendered any more.
func (s *Snapshot) keep(judged *judgement, view *workload.View) {
	owned := view.Owned[judged.plan.Manager]
	judged.kept = owned.ConfigMaps()
	// What is not of this sidecar needs no repair.
	isSound := func(name string) bool {
		there := s.find(name)
		return !slices.Contains(judged.kept, name) || there != nil && companion.KnownDigest(there) == owned.ConfigVersion()
	}
	judged.companions = slices.DeleteFunc(slices.Clone(judged.companions), func(c corev1.ConfigMap) bool { return isSound(c.Name) })
	if judged.copied != nil && isSound(judged.copied.name) {
		judged.copied = nil
	}
}

// companionNames tell which companions there are, and which version of each.
func (s *Snapshot) companionNames() []string {
	names := make([]string, 0, len(s.Companions))
	for i := range s.Companions {
		names = append(names, s.Companions[i].Name+" "+s.Companions[i].ResourceVersion)
	}
	slices.Sort(names)
	return names
}
