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
func (c *clusters) advance(ctx context.Context, stages *stages, cluster *v1alpha1.ClusterVectorSidecar, known *clusterKnown, isInvalid bool) (time.Duration, error) {
	now, err := stages.catalog.current(ctx)
	if err != nil {
		return 0, err
	}
	if !now.Rollout.IsStaged() {
		known.setParts(nil)
		return 0, nil
	}
	if cluster.DeletionTimestamp != nil { // However long that takes.
		known.setParts(nil)
		stages.wake(stages.waves.Forget(clusterKey(cluster.Name), &now.Target))
		return 0, nil
	}
	stages.await(ctx)
	if isInvalid {
		stages.wake(stages.waves.Forget(clusterKey(cluster.Name), &now.Target))
		return 0, nil
	}
	members, parts := c.members(ctx, stages.options, cluster, now), map[string]*stage{}
	generation := lastgood.Generation(everywhere(cluster))
	for wave, namespaces := range members {
		name, last := now.Rollout.NameOf(wave), now.Rollout.Last(cluster.Status.Waves, wave)
		broken := known.brokenIn(namespaces, last, stages.now())
		of := memberOf(cluster, &cluster.Spec.VectorSidecarSpec, generation, wave, &now.Target)
		if len(broken) > 0 {
			of.Generation = 0
		}
		part, err := stages.let(ctx, clusterKey(cluster.Name), of, last, now)
		if err != nil {
			return 0, err
		}
		if part.IsNew {
			known.setBroken(name, broken, generation)
		}
		part.last, parts[name] = last, part
	}
	until := c.observe(ctx, stages, &now.Target, cluster, known, members, parts)
	if err := c.record(ctx, cluster, parts); err != nil {
		return 0, fmt.Errorf("writing to the status that a revision goes on: %w", err)
	}
	isOther, again := known.setParts(parts), map[string]bool{}
	for wave, namespaces := range members {
		for _, namespace := range namespaces {
			if isOther[now.Rollout.NameOf(wave)] {
				again[namespace] = true
			}
		}
	}
	c.passOn(ctx, cluster, again, false)
	if until.IsZero() {
		return 0, nil
	}
	return max(until.Sub(stages.now()), time.Millisecond), nil
}

// lastOf returns how far the parts of a ClusterVectorSidecar were when that was last written, nothing if it
// never was in a wave, or is not any more.
func (c *clusters) lastOf(ctx context.Context, stages *stages, name string) ([]fleet.Part, error) {
	now := stages.staged()
	cluster, err := c.named(ctx, name)
	if now == nil || cluster == nil || cluster.DeletionTimestamp != nil {
		return nil, err
	}
	var parts []fleet.Part
	for wave := range c.members(ctx, stages.options, cluster, now) {
		if is := now.Rollout.Last(cluster.Status.Waves, wave); is != nil {
			of := memberOf(cluster, &cluster.Spec.VectorSidecarSpec, lastgood.Generation(everywhere(cluster)), wave, &now.Target)
			parts = append(parts, fleet.Part{Of: of, Is: is})
		}
	}
	return parts, nil
}

// record writes to the status which revisions are let through, and which go on because workloads have
// waited too long for them, before anything is written for these: for whoever leads after a crash.
func (c *clusters) record(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, parts map[string]*stage) error {
	goesOn := func(part *stage) bool {
		return part.IsNew || part.last != nil && part.last.CompletionTime != nil && part.Status.CompletionTime == nil
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(parts)), goesOn) {
		return nil
	}
	before := cluster.DeepCopy()
	cluster.Status.Waves = statusesOf(parts)
	log.FromContext(ctx).Info("revisions go on", "waves", slices.Sorted(maps.Keys(parts)))
	return c.patch(ctx, before, cluster)
}

// observe records how far the parts are, and wakes those who waited for that. It returns
// when something changes although nothing happens, zero for never.
func (c *clusters) observe(ctx context.Context, stages *stages, given *fleet.Given, cluster *v1alpha1.ClusterVectorSidecar, known *clusterKnown, members map[int][]string, parts map[string]*stage) (until time.Time) {
	told := make([]fleet.Part, 0, len(parts))
	for _, part := range parts {
		progress, due := known.progressOf(cluster, part, members[part.of.Wave], stages.now())
		part.of.Due = due
		recorded := slices.Clone(part.Status.Failures)
		if before := known.part(part.Status.Wave); before != nil {
			recorded = append(recorded, before.Status.Failures...) // The status may not have them yet.
		}
		if next := part.Observe(progress, part.of.Wave, given, stages.now()); until.IsZero() || !next.IsZero() && next.Before(until) {
			until = next
		}
		announceFailures(ctx, c.events, cluster, recorded, part.Status.Failures)
		told = append(told, fleet.Part{Of: part.of, Is: &part.Status})
	}
	if known.hasSeenAll() { // Until then it is not known what has failed, and all others wait.
		stages.wake(stages.waves.Tell(clusterKey(cluster.Name), given, told...))
		stages.countWaves(given)
	}
	return until
}

// members returns the namespaces that a ClusterVectorSidecar selects, by the number of the wave
// that they are in.
func (c *clusters) members(ctx context.Context, options *Options, cluster *v1alpha1.ClusterVectorSidecar, now *desired.Platform) map[int][]string {
	found := map[int][]string{}
	selector := c.selectorOf(cluster)
	all := c.namespaces(ctx, "")
	for i := range all {
		if selector.Selects(&all[i]) {
			wave := waveOf(clusterwide.NewSidecar(cluster, all[i].Name, true), all[i].Labels, options, now)
			found[wave] = append(found[wave], all[i].Name)
		}
	}
	return found
}

// begin writes to the status that rollouts are about to begin for the revision of a part, unless it
// says so already.
func (c *clusters) begin(ctx context.Context, name string, part *stage, now time.Time) error {
	return c.change(ctx, name, func(cluster *v1alpha1.ClusterVectorSidecar) error {
		at := slices.IndexFunc(cluster.Status.Waves, func(one v1alpha1.RolloutStatus) bool { return one.Wave == part.Status.Wave })
		if at < 0 || cluster.Status.Waves[at].Revision != part.Status.Revision {
			return apply.ErrStale // It has another one by now.
		}
		if is := &cluster.Status.Waves[at]; is.StartTime == nil && is.CompletionTime == nil {
			is.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
		}
		return nil
	})
}
