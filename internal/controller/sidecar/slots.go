// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// slotScheduler divides the rollout slots among all VectorSidecars. It requests a reconcile of the VectorSidecars that get
// slots.
type slotScheduler struct {
	sidecars   *sidecarcache.Lister
	catalog    *catalog.Reconciler
	allocators map[plan.Class]*fleet.SlotAllocator
	metrics    *telemetry.Metrics
	notifier   *notify.Notifier
}

func newSlotScheduler(sidecars *sidecarcache.Lister, platforms *catalog.Reconciler, metrics *telemetry.Metrics, notifier *notify.Notifier, clock func() time.Time) *slotScheduler {
	p := &slotScheduler{sidecars: sidecars, catalog: platforms, allocators: map[plan.Class]*fleet.SlotAllocator{}, metrics: metrics, notifier: notifier}
	for _, class := range plan.Classes() {
		p.allocators[class] = fleet.NewSlotAllocator(clock)
	}
	return p
}

// reserve requests rollout slots for the rollouts that a decision would start. Rollouts without a slot wait. It
// returns the time until more of them may start without an event, or 0 for never.
func (p *slotScheduler) reserve(ctx context.Context, name types.NamespacedName, decision *decision.Decision) (requeueAfter time.Duration) {
	rules := p.catalog.Rules()
	for _, class := range plan.Classes() {
		allocator := p.allocatorFor(ctx, class)
		demand := decision.Demand(class)
		granted, wake := allocator.Reserve(name, demand, rules)
		p.notifier.Notify(wake...)
		if granted < demand.Wanted+demand.FailedWanted {
			requeueAfter = nextRequeue(requeueAfter, allocator.NextSlotTimeout())
			decision.Plans = plan.Grant(decision.Plans, class, granted, allocator.Usage(rules).Limit)
		}
	}
	p.recordSlots()
	return requeueAfter
}

// allocatorFor returns the allocator of a class. Its first call sets the VectorSidecars that must report.
func (p *slotScheduler) allocatorFor(ctx context.Context, class plan.Class) *fleet.SlotAllocator {
	allocator := p.allocators[class]
	if !allocator.HasMembers() {
		allocator.ExpectReports(p.sidecars.Keys(ctx))
	}
	return allocator
}

// expectNamespaces makes the allocators wait for the reports of a ClusterVectorSidecar from the namespaces that it
// selects. They do not wait for other namespaces, because a namespace outside the selection may have no reconcile.
func (p *slotScheduler) expectNamespaces(ctx context.Context, cluster string, namespaces map[string]bool) {
	var keys []types.NamespacedName
	for namespace := range namespaces {
		keys = append(keys, sidecarcache.KeyIn(namespace, cluster))
	}
	for _, class := range plan.Classes() {
		p.notifier.Notify(p.allocatorFor(ctx, class).ReplaceExpected(sidecarcache.ClusterKey(cluster), keys, p.catalog.Rules())...)
	}
}

// report releases the rollout slots that a decision received but did not use.
func (p *slotScheduler) report(name types.NamespacedName, decision *decision.Decision, writtenPlans []*plan.Plan) {
	written := map[types.UID]bool{}
	for _, writtenPlan := range writtenPlans {
		written[writtenPlan.Target.UID] = true
	}
	for _, class := range plan.Classes() {
		healthy, failed := plan.CountInProgress(decision.Plans, class, written)
		p.notifier.Notify(p.allocators[class].Report(name, healthy, failed, p.catalog.Rules())...)
	}
	p.recordSlots()
}

// withdraw withdraws the demand of a VectorSidecar with a failed reconcile.
func (p *slotScheduler) withdraw(name types.NamespacedName) {
	for _, allocator := range p.allocators {
		p.notifier.Notify(allocator.Withdraw(name, p.catalog.Rules())...)
	}
}

// forget drops a deleted VectorSidecar.
func (p *slotScheduler) forget(name types.NamespacedName) {
	for _, allocator := range p.allocators {
		p.notifier.Notify(allocator.Forget(name, p.catalog.Rules())...)
	}
	p.recordSlots()
}

func (p *slotScheduler) recordSlots() {
	rules := p.catalog.Rules()
	for class, allocator := range p.allocators {
		usage := allocator.Usage(rules)
		p.metrics.SetRolloutSlots(string(class), usage.Limit, usage.Used, usage.Waiting)
	}
}
