// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// part returns a copy of the part of a wave, nil if there is none yet.
func (k *clusterKnown) part(wave string) *stage {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.parts[wave]
	if one == nil {
		return nil
	}
	made := *one
	made.Status, made.IsNew, made.before = *one.Status.DeepCopy(), false, k.broken[wave]
	return &made
}

// setParts replaces the parts. It returns the names of the waves whose namespaces have to look again.
func (k *clusterKnown) setParts(parts map[string]*stage) (isOther map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	isOther = map[string]bool{}
	for wave, part := range parts {
		before := k.parts[wave]
		isOther[wave] = before == nil || !part.IsLike(&before.Stage)
	}
	k.parts = parts
	return isOther
}

// progressIn records how far a namespace is.
func (k *clusterKnown) progressIn(namespace string, part *stage, progress fleet.Progress, due, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	is := &namespaceProgress{Progress: progress, wave: part.Status.Wave, revision: part.Status.Revision, due: due}
	// What had failed with a spec that is reverted, or on the way back, does not any more.
	isBack := progress.Generation < 0 && progress.IsDone
	if before := k.progress[namespace]; before != nil && !isBack && (before.Generation < 0) == (progress.Generation < 0) {
		is.failed = before.failed
	}
	if progress.Failed > 0 {
		is.failed = now
	}
	k.progress[namespace] = is
}

// brokenIn returns those namespaces of a part where workloads have failed by no fault of the revision
// that it has, nil if that is nothing.
func (k *clusterKnown) brokenIn(namespaces []string, has *v1alpha1.RolloutStatus, now time.Time) map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	var broken map[string]bool
	for _, namespace := range namespaces {
		progress := k.progress[namespace]
		if progress == nil || progress.failed.IsZero() || now.Sub(progress.failed) > lastgood.CrashLoop {
			continue
		}
		if before := k.broken[has.Wave]; isFaultOf(has) && (before == nil || !before.namespaces[namespace]) {
			continue
		}
		if broken == nil {
			broken = map[string]bool{}
		}
		broken[namespace] = true
	}
	return broken
}

// setBroken records what had failed before the revision of a part.
func (k *clusterKnown) setBroken(wave string, namespaces map[string]bool, generation int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.broken[wave] = &brokenBefore{namespaces: namespaces, generation: generation}
}

// progressOf adds up how far the namespaces of a part are, and returns when some workload there will
// have waited too long.
func (k *clusterKnown) progressOf(cluster *v1alpha1.ClusterVectorSidecar, part *stage, namespaces []string, now time.Time) (sum fleet.Progress, due time.Time) {
	present := lastgood.Generation(everywhere(cluster))
	before := k.beforePart(present, part, namespaces, now)
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]fleet.Progress, 0, len(namespaces))
	for _, namespace := range namespaces {
		one := k.progress[namespace]
		if one == nil || one.Generation != present || one.wave != part.Status.Wave || one.revision != part.Status.Revision {
			all = append(all, fleet.Progress{}) // It is about to look.
			continue
		}
		is := one.Progress
		if before.namespaces[namespace] {
			is.Failed, is.Unexplained, is.Failures, is.IsDone = 0, 0, nil, is.IsDone || is.Failed+is.Unexplained > 0
		}
		all = append(all, is)
		if due.IsZero() || !one.due.IsZero() && one.due.Before(due) {
			due = one.due
		}
	}
	generation := present
	if part.Status.Generation == 0 && generation == before.generation { // Who had failed before is known by name.
		generation = 0
	}
	return fleet.Sum(all, generation), due
}

// beforePart returns what had failed before the revision of a part. After a restart that is what fails
// at the first look, if the status says that something had.
func (k *clusterKnown) beforePart(present int64, part *stage, namespaces []string, now time.Time) *brokenBefore {
	wave := part.Status.Wave
	k.mu.Lock()
	before := k.broken[wave]
	k.mu.Unlock()
	if before != nil {
		return before
	}
	before = &brokenBefore{generation: present}
	if part.Status.Generation == 0 {
		before.namespaces = k.brokenIn(namespaces, &v1alpha1.RolloutStatus{}, now)
	}
	if k.hasSeenAll() {
		k.setBroken(wave, before.namespaces, before.generation)
	}
	return before
}
