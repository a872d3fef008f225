// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// review contains the remarks about one VectorSidecar or ClusterVectorSidecar.
type review struct {
	// faults are errors of the object itself, because of which the request is denied. doubts are all other remarks for
	// the user.
	faults, doubts []remark
}

// maxCreationTime is later than every real creation time. It makes a VectorSidecar the newest one.
var maxCreationTime = metav1.NewTime(time.Unix(math.MaxUint32, 0))

// newReview reviews a VectorSidecar by making the operator's decision about it. It assumes that the VectorSidecar is
// the newest one, so that it finds the conflicts with all other VectorSidecars. It checks at most maxWorkloads
// workloads.
func newReview(ctx context.Context, snapshot *decision.Input, maxWorkloads int, decide func(context.Context, *decision.Input) (*decision.Decision, error)) (review, error) {
	newest := *snapshot
	newest.Sidecar = snapshot.Sidecar.DeepCopy()
	newest.Sidecar.CreationTimestamp = maxCreationTime
	newest.Workloads = slices.SortedFunc(slices.Values(snapshot.Workloads), func(a, b *workloadcache.Record) int { return cmp.Compare(a.Name, b.Name) })
	newest.Workloads = newest.Workloads[:min(len(newest.Workloads), maxWorkloads)]
	decided, err := decide(ctx, &newest)
	if err != nil {
		return review{}, err
	}
	result := review{}
	if err := result.addInvalid(ctx, &newest, decided); err != nil {
		return review{}, err
	}
	result.addFindings(decided)
	if decided.Invalid == nil && decided.Matched == 0 && newest.Sidecar.Spec.IsEnabled() {
		sampled, err := sampleInput(ctx, &newest)
		if err != nil {
			return review{}, err
		}
		if decided, err = decide(ctx, sampled); err != nil {
			return review{}, err
		}
		err = result.addInvalid(ctx, sampled, decided)
		result.addFindings(decided)
		return result, err
	}
	container, err := containerName(ctx, &newest)
	if err != nil {
		return review{}, err
	}
	for i := range decided.Plans {
		if p := &decided.Plans[i]; p.Competitor() != "" {
			result.addCompetitor(p, container)
		} else if decided.Invalid == nil || decided.IsWorkloadSpecific {
			result.addPlan(p)
		}
	}
	return result, nil
}

// addInvalid adds the reason why the VectorSidecar is invalid, if it is. The reason is a fault if the VectorSidecar's
// own content is the cause, and a doubt otherwise.
func (j *review) addInvalid(ctx context.Context, s *decision.Input, decided *decision.Decision) error {
	if decided.Invalid == nil {
		return nil
	}
	isOwn, err := isOwnError(ctx, s, decided)
	switch {
	case err != nil:
		return err
	case isOwn:
		j.faults = append(j.faults, remark{reason: decided.Invalid.Reason, text: decided.Invalid.Message})
	case !decided.IsWorkloadSpecific: // Otherwise each workload has its own remark.
		j.doubts = append(j.doubts, remark{reason: decided.Invalid.Reason, text: decided.Invalid.Message})
	}
	return nil
}

// isOwnError reports whether the content of a VectorSidecar is the reason why it is invalid. It returns false if
// another object is the reason, because a user may correct or create that object later.
func isOwnError(ctx context.Context, s *decision.Input, decided *decision.Decision) (bool, error) {
	switch decided.Invalid.Reason {
	case meta.ReasonConfigMapNotFound, meta.ReasonUnknownEnvironment, meta.ReasonUnknownTemplateSet,
		meta.ReasonInvalidTemplateSet, meta.ReasonInvalidPolicy, meta.ReasonConflict:
		return false, nil
	case meta.ReasonInvalidTemplate:
		return !decided.IsWorkloadSpecific, nil
	case meta.ReasonInvalidValues:
		// The error of the VectorSidecar without its settings is the error of the other layers.
		bare := *s
		bare.Sidecar = s.Sidecar.DeepCopy()
		spec := &bare.Sidecar.Spec
		spec.Sidecar, spec.InitContainers, spec.Volumes, spec.Values = nil, nil, nil, nil
		_, inherited, err := desired.MergeValues(ctx, &bare.Inputs)
		return inherited == nil || inherited.Message != decided.Invalid.Message, err
	}
	return true, nil
}

// addFindings adds the warnings about the Vector configuration. It also adds the errors unless they are the
// reason why the VectorSidecar is invalid.
func (j *review) addFindings(decided *decision.Decision) {
	for _, finding := range decided.Findings {
		isReported := decided.Invalid != nil && decided.Invalid.Reason == meta.ReasonInvalidConfig
		if finding.Level == vectorconfig.Error && isReported {
			continue
		}
		j.doubts = append(j.doubts, remark{text: finding.String()})
	}
}

// addCompetitor adds a conflict with another VectorSidecar that injects its sidecar, or would inject it, into the
// same workload.
func (j *review) addCompetitor(p *plan.Plan, container string) {
	message := meta.TitleIn(p.Target.Namespace, p.Competitor())
	if p.Desired == nil {
		message += fmt.Sprintf(" also injects a container %q: change spec.sidecar.name or spec.selector of one of them", container)
	} else {
		message += " blocks the injection: " + p.Message()
	}
	j.faults = append(j.faults, remark{reason: meta.ReasonConflict, text: status.WorkloadTitle(p.Target) + ": " + message})
}

// addPlan adds a doubt if a workload gets no sidecar for a reason other than another VectorSidecar, or if the
// sidecar has a warning.
func (j *review) addPlan(p *plan.Plan) {
	target := status.WorkloadTitle(p.Target)
	switch {
	case p.IsSkipped():
	case p.IsStopped():
		j.doubts = append(j.doubts, remark{reason: p.Reason(), text: fmt.Sprintf("workload %s does not get the sidecar: %s", target, p.Message())})
	case p.Warning != "":
		j.doubts = append(j.doubts, remark{text: fmt.Sprintf("%s: %s", target, p.Warning)})
	}
}
