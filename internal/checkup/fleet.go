// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// stuckAfter is the time after which a wave with VectorSidecars in progress is stuck, as in the alert
// VectorSidecarRolloutStuck.
const stuckAfter = 6 * time.Hour

// mostStuck is the maximum number of waves, and of VectorSidecars of each wave, in a message.
const mostStuck = 3

// FleetMember is the progress of a VectorSidecar, or of a ClusterVectorSidecar in one wave.
type FleetMember struct {
	// Name is NAMESPACE/NAME, or clustervectorsidecar/NAME.
	Name   string
	Status *v1alpha1.RolloutStatus
}

// WritesResult returns whether writes of an installation are stopped, with the time and the field manager of the
// stop.
func WritesResult(installation *source.Installation) Result {
	const check = "writes"
	object := installation.ConfigMaps().Installation
	value, ok := object.Annotations[meta.AnnotationStopWrites]
	isPaused, isStopped := ok && value != "false", object.Annotations[meta.AnnotationWrites] == meta.WritesStopped
	message := "all writes except removals are stopped"
	switch {
	case !isPaused && !isStopped:
		return Result{check, OK, "writes are not stopped", ""}
	case !isPaused:
		return Result{check, Warning, message + " by the value writes of the installation", "set writes: Enabled in the installation's values"}
	}
	lastWrite := meta.AnnotationWrite(object, meta.AnnotationStopWrites)
	switch stoppedAt, err := time.Parse(time.RFC3339, value); {
	case err == nil:
		message += " since " + stoppedAt.UTC().Format(time.RFC3339)
	case !lastWrite.Time.IsZero():
		message += " at or before " + lastWrite.Time.UTC().Format(time.RFC3339)
	default:
		message += " since an unknown time"
	}
	if lastWrite.Manager != "" {
		message += " by " + lastWrite.Manager
	}
	return Result{check, Warning, message, "kubectl vectorsidecar rollout resume"}
}

// RolloutResult returns whether the published revision is halted, or its waves are stuck. The time of publication is
// zero if it is unknown.
func RolloutResult(published *fleet.Target, publishedAt time.Time, members []FleetMember, now time.Time) Result {
	const check = "rollout of the published revision"
	if !published.Rules.IsStaged() {
		return Result{check, OK, "the installation has no waves", ""}
	}
	failed, isHalted := 0, false
	for _, member := range members {
		status := member.Status
		if status == nil {
			continue
		}
		if status.FailedRevision == published.Revision && status.LastHandledInstallationRetry == published.Retry {
			failed += int(status.FailedWorkloads)
		}
		isHalted = isHalted || status.State == v1alpha1.RolloutHalted
	}
	stuck := stuckWaves(published, publishedAt, members, now)
	isHalted = isHalted || published.Rules.CanHalt() && failed > 0 && failed >= published.Rules.Halt.FailedWorkloads
	switch {
	case isHalted:
		return Result{check, Failed, fmt.Sprintf("revision %s halted: %d workloads failed", published.Revision, failed), "see kubectl vectorsidecar rollout status, and correct the templates or values, or run kubectl vectorsidecar rollout undo"}
	case len(stuck) > 0:
		message := "waves stuck: " + strings.Join(humanize.TruncateList(stuck, mostStuck, len(stuck)), "; ")
		return Result{check, Failed, message, "see kubectl vectorsidecar rollout status, and docs/runbooks/VectorSidecarRolloutStuck.md"}
	}
	return Result{check, OK, "revision " + published.Revision + " neither halted nor stuck", ""}
}

// stuckWaves describes the waves with VectorSidecars that have been in progress for too long, with their names.
func stuckWaves(published *fleet.Target, publishedAt time.Time, members []FleetMember, now time.Time) []string {
	var statuses []*v1alpha1.RolloutStatus
	names := map[string][]string{}
	for _, member := range members {
		if member.Status == nil {
			continue
		}
		statuses = append(statuses, member.Status)
		if fleet.HasUnfinished(member.Status, published) {
			names[member.Status.Wave] = append(names[member.Status.Wave], member.Name)
		}
	}
	var stuck []string
	for wave, start := range fleet.ProgressingSince(published, publishedAt, statuses) {
		if start.IsZero() || now.Sub(start) < stuckAfter {
			continue
		}
		slices.Sort(names[wave])
		stuck = append(stuck, fmt.Sprintf("wave %s in progress since %s (unfinished: %s)", wave, start.UTC().Format(time.RFC3339), strings.Join(humanize.TruncateList(names[wave], mostStuck, len(names[wave])), ", ")))
	}
	slices.Sort(stuck)
	return stuck
}

// checkRollout reports whether writes are stopped, and whether the published revision is halted, stuck, or partly unused.
func (d *Diagnosis) checkRollout(ctx context.Context, installation *source.Installation) []Result {
	const check = "rollout of the published revision"
	results := []Result{WritesResult(installation)}
	var publishedAt time.Time
	if published := installation.Published; published != nil {
		publishedAt = published.Since.Time
		if faults := published.Faults(); len(faults) > 0 {
			results = append(results, Result{"published templates and values", Failed, strings.Join(faults, "; "), "correct them and upgrade the installation"})
		}
	}
	platform, _ := installation.PublishedPlatform(ctx, d.Cluster, d.Catalog) // The name of the revision is enough if its content cannot be read.
	if installation.PublishedErr != nil {
		return append(results, Result{check, Unknown, "published revision not read: " + installation.PublishedErr.Error(), ""})
	}
	members, err := d.listMembers(ctx)
	if err != nil {
		return append(results, Result{check, Unknown, err.Error(), "ask someone with permission to list VectorSidecars"})
	}
	result := RolloutResult(&platform.Target, publishedAt, members, d.Now())
	if texts := failureTexts(platform.Target.Revision, members); result.State == Failed && len(texts) > 0 {
		result.Message += "; " + strings.Join(humanize.TruncateList(texts, mostStuck, len(texts)), "; ")
	}
	return append(results, result)
}

// failureTexts describes the failures that members recorded for a revision.
func failureTexts(revision string, members []FleetMember) (texts []string) {
	for _, member := range members {
		if member.Status == nil {
			continue
		}
		for i := range member.Status.Failures {
			if failure := &member.Status.Failures[i]; failure.Revision == revision {
				texts = append(texts, member.Name+": "+failure.Text())
			}
		}
	}
	slices.Sort(texts)
	return texts
}

// listMembers lists the VectorSidecars, and the ClusterVectorSidecars by wave.
func (d *Diagnosis) listMembers(ctx context.Context) ([]FleetMember, error) {
	members, err := collectSidecars(ctx, d, metav1.NamespaceAll, func(sidecar *v1alpha1.VectorSidecar) FleetMember {
		return FleetMember{sidecar.Namespace + "/" + sidecar.Name, sidecar.Status.Rollout}
	})
	if err != nil {
		return nil, err
	}
	clusters, err := collectClusters(ctx, d, func(cluster *v1alpha1.ClusterVectorSidecar) (waves []FleetMember) {
		for n := range cluster.Status.Waves {
			waves = append(waves, FleetMember{meta.ClusterSidecarName(cluster.Name), &cluster.Status.Waves[n]})
		}
		return waves
	})
	if err != nil && !isAbsent(err) && !apierrors.IsForbidden(err) {
		return nil, err
	}
	return append(members, slices.Concat(clusters...)...), nil
}
