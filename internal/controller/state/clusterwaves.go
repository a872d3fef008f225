// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// WaveRollout returns a copy of the state of a wave, or nil if the wave does not have a state yet.
func (c *Cluster) WaveRollout(wave string) *Rollout {
	c.mu.Lock()
	defer c.mu.Unlock()
	rollout := c.rollouts[wave]
	if rollout == nil {
		return nil
	}
	clone := *rollout
	clone.Status, clone.IsNew, clone.PriorFailures = *rollout.Status.DeepCopy(), false, c.broken[wave]
	return &clone
}

// MaxAgeTimes returns the times when workloads reach spec.rollout.maxAge, by the name of their wave.
func (c *Cluster) MaxAgeTimes() map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	dueTimes := map[string]time.Time{}
	for wave, rollout := range c.rollouts {
		dueTimes[wave] = rollout.Member.MaxAgeTime
	}
	return dueTimes
}

// SetWaveRollouts replaces the states of all waves. isOther has the waves with a changed state, because their
// Namespaces must be requeued.
func (c *Cluster) SetWaveRollouts(rollouts map[string]*Rollout) (isOther map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isOther = map[string]bool{}
	for wave, rollout := range rollouts {
		previous := c.rollouts[wave]
		isOther[wave] = previous == nil || !rollout.IsEquivalentTo(&previous.RevisionState)
	}
	c.rollouts = rollouts
	return isOther
}

// requestStart records that a namespace starts the first rollouts of a revision in a wave, after the status records
// the start.
func (c *Cluster) requestStart(wave, revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts[wave] = revision
}

// IsStartRequested reports whether a namespace waits to start the revision of a wave. It drops a request that does not
// apply any more, because the revision of the wave is another one, is on hold, or has started.
func (c *Cluster) IsStartRequested(rollout *Rollout) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	wave := rollout.Status.Wave
	isRequested := c.starts[wave] != "" && c.starts[wave] == rollout.Status.Revision && !rollout.IsHeld &&
		rollout.Status.StartTime == nil && rollout.Status.CompletionTime == nil
	if !isRequested {
		delete(c.starts, wave)
	}
	return isRequested
}

// SetProgress records the progress of a namespace.
func (c *Cluster) SetProgress(namespace string, rollout *Rollout, progress fleet.Progress, dueTime, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	current := &namespaceProgress{Progress: progress, wave: rollout.Status.Wave, revision: rollout.Status.Revision, maxAgeTime: dueTime}
	// Drop an earlier failure if the spec has been reverted after that failure, or if the revert has finished.
	isBack := progress.Generation < 0 && progress.IsDone
	if previous := c.progress[namespace]; previous != nil && !isBack && (previous.Generation < 0) == (progress.Generation < 0) {
		current.failed = previous.failed
	}
	if progress.Failed > 0 {
		current.failed = now
	}
	c.progress[namespace] = current
}

// BrokenNamespaces returns the namespaces of a wave in which workloads have failed for another reason than the
// revision of the wave, or nil for none.
func (c *Cluster) BrokenNamespaces(namespaces []string, rolloutStatus *v1alpha1.RolloutStatus, now time.Time) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var broken map[string]bool
	for _, namespace := range namespaces {
		progress := c.progress[namespace]
		if progress == nil || progress.failed.IsZero() || now.Sub(progress.failed) > lastgood.CrashLoop {
			continue
		}
		if prior := c.broken[rolloutStatus.Wave]; HasFailedRevision(rolloutStatus) && (prior == nil || !prior.Namespaces[namespace]) {
			continue
		}
		if broken == nil {
			broken = map[string]bool{}
		}
		broken[namespace] = true
	}
	return broken
}

// SetBroken records the namespaces of a wave in which workloads had failed before the revision of the wave started.
func (c *Cluster) SetBroken(wave string, namespaces map[string]bool, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken[wave] = &PriorFailures{Namespaces: namespaces, Generation: generation}
}

// WaveProgress adds up the progress of the namespaces of a wave. It also returns the first time when a workload there
// reaches spec.rollout.maxAge.
func (c *Cluster) WaveProgress(cluster *v1alpha1.ClusterVectorSidecar, rollout *Rollout, namespaces []string, now time.Time) (sum fleet.Progress, dueTime time.Time) {
	currentGeneration := lastgood.Generation(clusterwide.NewSidecarWithoutNamespace(cluster))
	prior := c.failuresBeforeRollout(currentGeneration, rollout, namespaces, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	progresses := make([]fleet.Progress, 0, len(namespaces))
	for _, namespace := range namespaces {
		entry := c.progress[namespace]
		if entry == nil || entry.Generation != currentGeneration || entry.wave != rollout.Status.Wave || entry.revision != rollout.Status.Revision {
			progresses = append(progresses, fleet.Progress{}) // The namespace is about to be reconciled.
			continue
		}
		progress := entry.Progress
		if prior.Namespaces[namespace] {
			progress.Failed, progress.Unexplained, progress.Failures, progress.IsDone = 0, 0, nil, progress.IsDone || progress.Failed+progress.Unexplained > 0
		}
		progresses = append(progresses, progress)
		if dueTime.IsZero() || !entry.maxAgeTime.IsZero() && entry.maxAgeTime.Before(dueTime) {
			dueTime = entry.maxAgeTime
		}
	}
	generation := currentGeneration
	if rollout.Status.Generation == 0 && generation == prior.Generation { // Namespaces that had failed before are known by name.
		generation = 0
	}
	return fleet.SumProgress(progresses, generation), dueTime
}

// failuresBeforeRollout returns the namespaces that had failed before the revision of a wave started. After a
// restart, these are the namespaces that fail in the first reconcile, if the status says that some had failed.
func (c *Cluster) failuresBeforeRollout(currentGeneration int64, rollout *Rollout, namespaces []string, now time.Time) *PriorFailures {
	wave := rollout.Status.Wave
	c.mu.Lock()
	prior := c.broken[wave]
	c.mu.Unlock()
	if prior != nil {
		return prior
	}
	prior = &PriorFailures{Generation: currentGeneration}
	if rollout.Status.Generation == 0 {
		prior.Namespaces = c.BrokenNamespaces(namespaces, &v1alpha1.RolloutStatus{}, now)
	}
	if c.HasAllReports() {
		c.SetBroken(wave, prior.Namespaces, prior.Generation)
	}
	return prior
}
