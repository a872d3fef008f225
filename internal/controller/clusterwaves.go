// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// A ClusterVectorSidecar is in as many waves as it has namespaces in. In each it is like a
// VectorSidecar, called a part here: it has a revision, is waited for, and can be halted. Its
// own pass lets revisions through and writes them to its status; the passes of its namespaces go
// by what that says of their wave, and report how far they are.

// advance lets the installation's revision through to the parts of a ClusterVectorSidecar, and requests
// passes of the namespaces for which that changes something. If its namespaces are unknown, nothing goes
// on, and nobody waits for it. It returns how long until the next look.
func (c *clusters) advance(ctx context.Context, stages *stages, cluster *v1alpha1.ClusterVectorSidecar, clusterState *clusterKnown, isInvalid bool) (time.Duration, error) {
	platform, err := stages.catalog.current(ctx)
	if err != nil {
		return 0, err
	}
	if !platform.Rollout.IsStaged() {
		clusterState.setParts(nil)
		return 0, nil
	}
	if cluster.DeletionTimestamp != nil { // However long that takes.
		clusterState.setParts(nil)
		stages.wake(stages.waves.Forget(clusterKey(cluster.Name), &platform.Target))
		return 0, nil
	}
	stages.await(ctx)
	if isInvalid {
		stages.wake(stages.waves.Forget(clusterKey(cluster.Name), &platform.Target))
		return 0, nil
	}
	members, rollouts := c.members(ctx, stages.options, cluster, platform), map[string]*stage{}
	generation := lastgood.Generation(everywhere(cluster))
	for wave, namespaces := range members {
		name, lastStatus := platform.Rollout.NameOf(wave), platform.Rollout.Last(cluster.Status.Waves, wave)
		broken := clusterState.brokenIn(namespaces, lastStatus, stages.now())
		member := memberOf(cluster, &cluster.Spec.VectorSidecarSpec, generation, wave, &platform.Target)
		if len(broken) > 0 {
			member.Generation = 0
		}
		rollout, err := stages.let(ctx, clusterKey(cluster.Name), member, lastStatus, platform)
		if err != nil {
			return 0, err
		}
		if rollout.IsNew {
			clusterState.setBroken(name, broken, generation)
		}
		rollout.last, rollouts[name] = lastStatus, rollout
	}
	nextDue := c.observe(ctx, stages, &platform.Target, cluster, clusterState, members, rollouts)
	if err := c.record(ctx, cluster, rollouts); err != nil {
		return 0, fmt.Errorf("writing to the status that a revision goes on: %w", err)
	}
	isOther, toRequeue := clusterState.setParts(rollouts), map[string]bool{}
	for wave, namespaces := range members {
		for _, namespace := range namespaces {
			if isOther[platform.Rollout.NameOf(wave)] {
				toRequeue[namespace] = true
			}
		}
	}
	c.passOn(ctx, cluster, toRequeue, false)
	if nextDue.IsZero() {
		return 0, nil
	}
	return max(nextDue.Sub(stages.now()), time.Millisecond), nil
}

// lastOf returns how far the parts of a ClusterVectorSidecar were when that was last written, nothing if it
// never was in a wave, or is not any more.
func (c *clusters) lastOf(ctx context.Context, stages *stages, name string) ([]fleet.Part, error) {
	platform := stages.staged()
	cluster, err := c.named(ctx, name)
	if platform == nil || cluster == nil || cluster.DeletionTimestamp != nil {
		return nil, err
	}
	var reports []fleet.Part
	for wave := range c.members(ctx, stages.options, cluster, platform) {
		if lastStatus := platform.Rollout.Last(cluster.Status.Waves, wave); lastStatus != nil {
			member := memberOf(cluster, &cluster.Spec.VectorSidecarSpec, lastgood.Generation(everywhere(cluster)), wave, &platform.Target)
			reports = append(reports, fleet.Part{Of: member, Is: lastStatus})
		}
	}
	return reports, nil
}

// record writes to the status which revisions are let through, and which go on because workloads have
// waited too long for them, before anything is written for these: for whoever leads after a crash.
func (c *clusters) record(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, rollouts map[string]*stage) error {
	hasStarted := func(rollout *stage) bool {
		return rollout.IsNew || rollout.last != nil && rollout.last.CompletionTime != nil && rollout.Status.CompletionTime == nil
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(rollouts)), hasStarted) {
		return nil
	}
	original := cluster.DeepCopy()
	cluster.Status.Waves = statusesOf(rollouts)
	log.FromContext(ctx).Info("starting revisions in waves", "waves", slices.Sorted(maps.Keys(rollouts)))
	return c.patch(ctx, original, cluster)
}

// observe records how far the parts are, and wakes those who waited for that. It returns
// when something changes although nothing happens, zero for never.
func (c *clusters) observe(ctx context.Context, stages *stages, target *fleet.Given, cluster *v1alpha1.ClusterVectorSidecar, clusterState *clusterKnown, members map[int][]string, rollouts map[string]*stage) (nextDue time.Time) {
	reports := make([]fleet.Part, 0, len(rollouts))
	for _, rollout := range rollouts {
		progress, dueTime := clusterState.progressOf(cluster, rollout, members[rollout.of.Wave], stages.now())
		rollout.of.Due = dueTime
		recorded := slices.Clone(rollout.Status.Failures)
		if previous := clusterState.part(rollout.Status.Wave); previous != nil {
			recorded = append(recorded, previous.Status.Failures...) // The status may not have them yet.
		}
		if next := rollout.Observe(progress, rollout.of.Wave, target, stages.now()); nextDue.IsZero() || !next.IsZero() && next.Before(nextDue) {
			nextDue = next
		}
		announceFailures(ctx, c.events, cluster, recorded, rollout.Status.Failures)
		reports = append(reports, fleet.Part{Of: rollout.of, Is: &rollout.Status})
	}
	if clusterState.hasSeenAll() { // Until then it is not known what has failed, and all others wait.
		stages.wake(stages.waves.Tell(clusterKey(cluster.Name), target, reports...))
		stages.countWaves(target)
	}
	return nextDue
}

// members returns the namespaces that a ClusterVectorSidecar selects, by the number of the wave
// that they are in.
func (c *clusters) members(ctx context.Context, options *Options, cluster *v1alpha1.ClusterVectorSidecar, platform *desired.Platform) map[int][]string {
	members := map[int][]string{}
	selector := c.selectorOf(cluster)
	objects := c.namespaces(ctx, "")
	for i := range objects {
		if selector.Selects(&objects[i]) {
			wave := waveOf(clusterwide.NewSidecar(cluster, objects[i].Name, true), objects[i].Labels, options, platform)
			members[wave] = append(members[wave], objects[i].Name)
		}
	}
	return members
}

// begin writes to the status that rollouts are about to begin for the revision of a part, unless it
// says so already.
func (c *clusters) begin(ctx context.Context, name string, rollout *stage, now time.Time) error {
	return c.change(ctx, name, func(cluster *v1alpha1.ClusterVectorSidecar) error {
		i := slices.IndexFunc(cluster.Status.Waves, func(wave v1alpha1.RolloutStatus) bool { return wave.Wave == rollout.Status.Wave })
		if i < 0 || cluster.Status.Waves[i].Revision != rollout.Status.Revision {
			return apply.ErrStale // It has another one by now.
		}
		if wave := &cluster.Status.Waves[i]; wave.StartTime == nil && wave.CompletionTime == nil {
			wave.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
		}
		return nil
	})
}
