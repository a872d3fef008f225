// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// cleanedAtOnce is the number of workloads that may roll out at the same time after removals of leftovers. It is fixed
// because the VectorSidecar with the limit does not exist anymore.
const cleanedAtOnce = 5

// confirm asks the API server whether the VectorSidecars of leftovers are missing, before a leftover is removed or
// reported. It returns the confirmed leftovers, including the ones that were reported before.
func (s *sweeper) confirm(ctx context.Context, leftovers []companion.Leftover) ([]companion.Leftover, progress) {
	progress := allSwept
	exists := map[string]func(namespace, manager string) bool{}
	confirmed := slices.DeleteFunc(leftovers, func(f companion.Leftover) bool {
		if f.Action != companion.Clean && s.told[leftover{f.UID, f.Manager}] == f.Action {
			return false
		}
		if exists[f.Namespace] == nil {
			var err error
			if exists[f.Namespace], err = s.managersIn(ctx, f.Namespace); err != nil {
				progress = notAble
				exists[f.Namespace] = func(string, string) bool { return true } // Unknown: do not remove the sidecar.
				log.FromContext(ctx).Error(err, "confirming leftovers", telemetry.KeyNamespace, f.Namespace)
			}
		}
		return exists[f.Namespace](f.Namespace, f.Manager)
	})
	return confirmed, progress
}

// managersIn reads the VectorSidecars of a namespace and all ClusterVectorSidecars from the API server. It returns a
// function that reports whether the VectorSidecar of a field manager exists. It uses List, because Get also returns
// NotFound if the CRD is missing.
func (s *sweeper) managersIn(ctx context.Context, namespace string) (func(namespace, manager string) bool, error) {
	sidecars, clusters, err := s.liveSidecars(ctx, namespace)
	return s.sidecars.WithDisabledClusters(companion.NewExistenceCheck(sidecars, clusters)), err
}

// liveSidecars lists the VectorSidecars of a namespace and all ClusterVectorSidecars, with names and UIDs only.
func (s *sweeper) liveSidecars(ctx context.Context, namespace string) ([]v1alpha1.VectorSidecar, []v1alpha1.ClusterVectorSidecar, error) {
	sidecars, err := livelist.Collect(ctx, s.live, livelist.Metadata(v1alpha1.GroupVersion.WithKind("VectorSidecar")), func(listed client.Object) (v1alpha1.VectorSidecar, bool) {
		return v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: listed.GetNamespace(), Name: listed.GetName(), UID: listed.GetUID()}}, true
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, nil, fmt.Errorf("listing VectorSidecars: %w", err)
	}
	clusters, err := s.sidecars.LiveClusters(ctx, s.live)
	return sidecars, clusters, err
}

// clean removes the leftovers that are safe to remove, a few workloads at a time. It returns the remaining leftovers.
func (s *sweeper) clean(ctx context.Context, leftovers []companion.Leftover) ([]companion.Leftover, progress) {
	plans := s.rollingOut()
	progress := allSwept
	if len(plans) > 0 {
		progress = notYet
	}
	remaining := slices.DeleteFunc(leftovers, func(f companion.Leftover) bool {
		if f.Action != companion.Clean {
			return false
		}
		view, err := s.look(ctx, &f)
		if err != nil {
			progress = notAble
			log.FromContext(ctx).Error(err, "reading a workload with a leftover", telemetry.KeyWorkload, status.Object(f.Ref))
			return false
		}
		if view != nil {
			plans = append(plans, plan.ForRemoval(f.Manager, view))
		}
		return view == nil
	})
	plan.Admit(plans, plan.Limit{Max: cleanedAtOnce})
	for i := range plans {
		p := &plans[i]
		switch {
		case p.Action == plan.None:
		case p.IsWaiting():
			progress = max(progress, notYet)
		case p.Action == plan.Blocked:
			progress = notAble
			s.tellFailure(ctx, p, errors.New(p.Message()))
		case !p.Writes() || ctx.Err() != nil:
			progress = notAble
		default:
			isRemoved, removalProgress := s.takeOut(ctx, p)
			if progress = max(progress, removalProgress); !isRemoved {
				continue
			}
			remaining = slices.DeleteFunc(remaining, func(f companion.Leftover) bool { return f.UID == p.Target.UID && f.Manager == p.Manager })
		}
	}
	return remaining, progress
}

// rollingOut returns a plan without a change for each workload that is still rolling out after a removal, so that the
// workload counts for pacing.
func (s *sweeper) rollingOut() []plan.Plan {
	var plans []plan.Plan
	for uid, entry := range s.cleaned {
		record := s.views.workloads.Get(entry.Kind, entry.Namespace, entry.Name)
		isBehind := record != nil && record.UID == uid && record.Generation() < entry.generation
		if isBehind || record != nil && record.UID == uid && record.Rollout() == workload.RolloutProgressing {
			plans = append(plans, plan.Plan{Target: entry.Ref, Action: plan.None, Rollout: plan.Rollout{InFlight: true}})
			continue
		}
		delete(s.cleaned, uid)
	}
	return plans
}

// look reads a workload with a leftover from the API server. It returns nil if the leftover is gone. It uses List,
// because the operator has no permission to get workloads.
func (s *sweeper) look(ctx context.Context, finding *companion.Leftover) (*workload.View, error) {
	object, err := removal.FindWorkload(ctx, s.live, &finding.Ref)
	if object == nil || err != nil {
		return nil, err
	}
	isAnother := func(f companion.Leftover) bool { return f.Manager != finding.Manager }
	noneExists := func(string, string) bool { return false }
	leftovers := slices.DeleteFunc(companion.FindLeftovers(slices.Values([]companion.Carrier{companion.NewCarrier(object)}), noneExists, s.writtenBy), isAnother)
	if len(leftovers) != 1 || leftovers[0].Action != companion.Clean {
		return nil, nil
	}
	view := workload.NewView(object)
	return &view, nil
}

// takeOut removes a leftover and reports whether the removal is finished.
func (s *sweeper) takeOut(ctx context.Context, p *plan.Plan) (isRemoved bool, progress progress) {
	object, sidecar := status.Object(p.Target), meta.SidecarName(p.Manager)
	written, err := s.carryOut(ctx, p)
	s.events.RecordWrite()
	switch {
	case errors.Is(err, apply.ErrGone):
		return true, allSwept
	case errors.Is(err, apply.ErrStale):
		return false, notYet
	case err != nil:
		s.tellFailure(ctx, p, err)
		return false, notAble
	}
	s.cleaned[p.Target.UID] = swept{p.Target, written.Generation}
	s.Metrics.RecordRemovedLeftover()
	log.FromContext(ctx).Info("leftover removed", telemetry.KeyWorkload, object, telemetry.KeyName, sidecar, "generation", written.Generation)
	s.events.Eventf(events.Reference(p.Target), nil, corev1.EventTypeNormal, meta.ReasonLeftoverRemoved, string(p.Action),
		"removed the sidecar of %s, which does not exist", meta.Title(sidecar))
	return true, notYet // The rollout takes time.
}

// tellFailure reports a failed removal.
func (s *sweeper) tellFailure(ctx context.Context, p *plan.Plan, err error) {
	sidecar := meta.SidecarName(p.Manager)
	log.FromContext(ctx).Error(err, "removing a leftover", telemetry.KeyWorkload, status.Object(p.Target), telemetry.KeyName, sidecar)
	s.events.Eventf(events.Reference(p.Target), nil, corev1.EventTypeWarning, meta.ReasonLeftoverFound, string(p.Action),
		"removing the sidecar of %s, which does not exist: %s", meta.Title(sidecar), humanize.Message(err.Error(), events.NoteLimit))
}
