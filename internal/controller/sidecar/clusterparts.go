// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// waveRollout returns a copy of the state of a wave, or nil if the wave does not have a state yet.
func (k *cachedCluster) waveRollout(wave string) *waveRollout {
	k.mu.Lock()
	defer k.mu.Unlock()
	rollout := k.rollouts[wave]
	if rollout == nil {
		return nil
	}
	clone := *rollout
	clone.Status, clone.IsNew, clone.priorFailures = *rollout.Status.DeepCopy(), false, k.broken[wave]
	return &clone
}

// maxAgeTimes returns the times when workloads reach spec.rollout.maxAge, by the name of their wave.
func (k *cachedCluster) maxAgeTimes() map[string]time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	dueTimes := map[string]time.Time{}
	for wave, rollout := range k.rollouts {
		dueTimes[wave] = rollout.member.MaxAgeTime
	}
	return dueTimes
}

// setWaveRollouts replaces the states of all waves. isOther has the waves with a changed state, because their
// namespaces must be requeued.
func (k *cachedCluster) setWaveRollouts(rollouts map[string]*waveRollout) (isOther map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	isOther = map[string]bool{}
	for wave, rollout := range rollouts {
		previous := k.rollouts[wave]
		isOther[wave] = previous == nil || !rollout.IsEquivalentTo(&previous.RevisionState)
	}
	k.rollouts = rollouts
	return isOther
}

// requestStart records that a namespace starts the first rollouts of a revision in a wave, after the status records
// the start.
func (k *cachedCluster) requestStart(wave, revision string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.starts[wave] = revision
}

// isStartRequested reports whether a namespace waits to start the revision of a wave. It drops a request that does not
// apply any more, because the revision of the wave is another one, is on hold, or has started.
func (k *cachedCluster) isStartRequested(rollout *waveRollout) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	wave := rollout.Status.Wave
	isRequested := k.starts[wave] != "" && k.starts[wave] == rollout.Status.Revision && !rollout.IsHeld &&
		rollout.Status.StartTime == nil && rollout.Status.CompletionTime == nil
	if !isRequested {
		delete(k.starts, wave)
	}
	return isRequested
}

// setProgress records the progress of a namespace.
func (k *cachedCluster) setProgress(namespace string, rollout *waveRollout, progress fleet.Progress, dueTime, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	current := &namespaceProgress{Progress: progress, wave: rollout.Status.Wave, revision: rollout.Status.Revision, maxAgeTime: dueTime}
	// Drop an earlier failure if the spec has been reverted after that failure, or if the revert has finished.
	isBack := progress.Generation < 0 && progress.IsDone
	if previous := k.progress[namespace]; previous != nil && !isBack && (previous.Generation < 0) == (progress.Generation < 0) {
		current.failed = previous.failed
	}
	if progress.Failed > 0 {
		current.failed = now
	}
	k.progress[namespace] = current
}

// brokenNamespaces returns the namespaces of a wave in which workloads have failed for another reason than the
// revision of the wave, or nil for none.
func (k *cachedCluster) brokenNamespaces(namespaces []string, rolloutStatus *v1alpha1.RolloutStatus, now time.Time) map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	var broken map[string]bool
	for _, namespace := range namespaces {
		progress := k.progress[namespace]
		if progress == nil || progress.failed.IsZero() || now.Sub(progress.failed) > lastgood.CrashLoop {
			continue
		}
		if prior := k.broken[rolloutStatus.Wave]; hasFailedRevision(rolloutStatus) && (prior == nil || !prior.namespaces[namespace]) {
			continue
		}
		if broken == nil {
			broken = map[string]bool{}
		}
		broken[namespace] = true
	}
	return broken
}

// setBroken records the namespaces of a wave in which workloads had failed before the revision of the wave started.
func (k *cachedCluster) setBroken(wave string, namespaces map[string]bool, generation int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.broken[wave] = &priorFailures{namespaces: namespaces, generation: generation}
}

// waveProgress adds up the progress of the namespaces of a wave. It also returns the first time when a workload there
// reaches spec.rollout.maxAge.
func (k *cachedCluster) waveProgress(cluster *v1alpha1.ClusterVectorSidecar, rollout *waveRollout, namespaces []string, now time.Time) (sum fleet.Progress, dueTime time.Time) {
	currentGeneration := lastgood.Generation(asVectorSidecar(cluster))
	prior := k.failuresBeforeRollout(currentGeneration, rollout, namespaces, now)
	k.mu.Lock()
	defer k.mu.Unlock()
	progresses := make([]fleet.Progress, 0, len(namespaces))
	for _, namespace := range namespaces {
		entry := k.progress[namespace]
		if entry == nil || entry.Generation != currentGeneration || entry.wave != rollout.Status.Wave || entry.revision != rollout.Status.Revision {
			progresses = append(progresses, fleet.Progress{}) // The namespace is about to be reconciled.
			continue
		}
		progress := entry.Progress
		if prior.namespaces[namespace] {
			progress.Failed, progress.Unexplained, progress.Failures, progress.IsDone = 0, 0, nil, progress.IsDone || progress.Failed+progress.Unexplained > 0
		}
		progresses = append(progresses, progress)
		if dueTime.IsZero() || !entry.maxAgeTime.IsZero() && entry.maxAgeTime.Before(dueTime) {
			dueTime = entry.maxAgeTime
		}
	}
	generation := currentGeneration
	if rollout.Status.Generation == 0 && generation == prior.generation { // Namespaces that had failed before are known by name.
		generation = 0
	}
	return fleet.SumProgress(progresses, generation), dueTime
}

// failuresBeforeRollout returns the namespaces that had failed before the revision of a wave started. After a
// restart, these are the namespaces that fail in the first reconcile, if the status says that some had failed.
func (k *cachedCluster) failuresBeforeRollout(currentGeneration int64, rollout *waveRollout, namespaces []string, now time.Time) *priorFailures {
	wave := rollout.Status.Wave
	k.mu.Lock()
	prior := k.broken[wave]
	k.mu.Unlock()
	if prior != nil {
		return prior
	}
	prior = &priorFailures{generation: currentGeneration}
	if rollout.Status.Generation == 0 {
		prior.namespaces = k.brokenNamespaces(namespaces, &v1alpha1.RolloutStatus{}, now)
	}
	if k.hasAllReports() {
		k.setBroken(wave, prior.namespaces, prior.generation)
	}
	return prior
}
