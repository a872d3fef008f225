// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Start runs a leftover cleanup at once, when woken, and periodically, until the context ends.
func (s *sweeper) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, s.log)
	hasRead := func(context.Context) (bool, error) { return s.views.workloads.IsSynced(), nil }
	_ = wait.PollUntilContextCancel(ctx, sweepDelay/10, true, hasRead) // The only error is the error of the context.
	retry := sweepRetry
	for ctx.Err() == nil {
		delay := wait.Jitter(sweepInterval, 0.2)
		switch s.sweep(ctx) {
		case allSwept:
			retry = sweepRetry
		case notYet:
			delay, retry = sweepRetry, sweepRetry
		case notAble:
			delay, retry = retry, state.NextWait(retry, sweepRetry, state.LastRetry)
		}
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		case <-s.woken:
			select {
			case <-ctx.Done():
			case <-time.After(sweepDelay):
			}
		}
	}
	return nil
}

// sweep runs one leftover cleanup.
func (s *sweeper) sweep(ctx context.Context) progress {
	exists := s.sidecars.orOffered(companion.NewExistenceCheck(s.sidecars.list(ctx, ""), s.sidecars.clusters.all(ctx)))
	leftovers := companion.FindLeftovers(carriersOf(s.views.workloads.ListTraced()), exists, s.writtenBy)
	leftovers, confirmed := s.confirm(ctx, leftovers)
	leftovers, cleaned := s.clean(ctx, leftovers)
	s.tellLeftovers(ctx, leftovers)
	return max(confirmed, cleaned, s.deleteStrays(ctx))
}

// tellLeftovers counts the leftovers. It reports each leftover that a user must check, but only once.
func (s *sweeper) tellLeftovers(ctx context.Context, leftovers []companion.Leftover) {
	counts, reported := map[companion.LeftoverAction]int{}, map[leftover]companion.LeftoverAction{}
	for i := range leftovers {
		finding := &leftovers[i]
		key := leftover{finding.UID, finding.Manager}
		counts[finding.Action]++
		reported[key] = finding.Action
		if finding.Action != companion.Report || s.told[key] == finding.Action {
			continue
		}
		log.FromContext(ctx).Info("leftover found", telemetry.KeyWorkload, status.Object(finding.Ref), telemetry.KeyName, finding.Sidecar, "cause", finding.Reason)
		s.events.Eventf(reference(finding.Ref), nil, corev1.EventTypeWarning, meta.ReasonLeftoverFound, string(plan.None),
			"found fields of %s, which does not exist: %s", meta.Title(finding.Sidecar), finding.Reason)
	}
	s.told = reported
	s.hasFound.Store(len(reported) > 0)
	for _, verdict := range companion.LeftoverActions() {
		s.Metrics.SetLeftovers(string(verdict), counts[verdict])
	}
}
