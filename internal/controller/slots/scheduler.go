// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package slots divides the rollout slots of the installation among all VectorSidecars. The input is the demand and the
// progress of each reconcile; the output is slots, and requests of the reconciles that get slots later.
package slots

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Scheduler divides the rollout slots among all VectorSidecars. It requests a reconcile of the VectorSidecars that get
// slots.
type Scheduler struct {
	// keys returns the keys of all VectorSidecars and ClusterVectorSidecars.
	keys       func(context.Context) []types.NamespacedName
	rules      func() *fleet.Rules
	allocators map[plan.Class]*fleet.SlotAllocator
	metrics    *telemetry.Metrics
	notifier   *notify.Notifier
}

// New returns a Scheduler. keys returns the keys of all VectorSidecars and ClusterVectorSidecars, rules the current
// rollout rules, and clock the time of the API server.
func New(keys func(context.Context) []types.NamespacedName, rules func() *fleet.Rules, metrics *telemetry.Metrics, notifier *notify.Notifier, clock func() time.Time) *Scheduler {
	p := &Scheduler{keys: keys, rules: rules, allocators: map[plan.Class]*fleet.SlotAllocator{}, metrics: metrics, notifier: notifier}
	for _, class := range plan.Classes() {
		p.allocators[class] = fleet.NewSlotAllocator(clock)
	}
	return p
}

// Reserve requests rollout slots for the rollouts that a decision would start. Rollouts without a slot wait. It
// returns the time until more of them may start without an event, or 0 for never.
func (p *Scheduler) Reserve(ctx context.Context, name types.NamespacedName, decision *decision.Decision) (requeueAfter time.Duration) {
	rules := p.rules()
	for _, class := range plan.Classes() {
		allocator := p.allocatorFor(ctx, class)
		demand := decision.Demand(class)
		granted, wake := allocator.Reserve(name, demand, rules)
		p.notifier.Notify(wake...)
		if granted < demand.Wanted+demand.FailedWanted {
			requeueAfter = schedule.NextRequeue(requeueAfter, allocator.NextSlotTimeout())
			decision.Plans = plan.Grant(decision.Plans, class, granted, allocator.Usage(rules).Limit)
		}
	}
	p.recordSlots()
	return requeueAfter
}

// allocatorFor returns the allocator of a class. Its first call sets the VectorSidecars that must report.
func (p *Scheduler) allocatorFor(ctx context.Context, class plan.Class) *fleet.SlotAllocator {
	allocator := p.allocators[class]
	if !allocator.HasMembers() {
		allocator.ExpectReports(p.keys(ctx))
	}
	return allocator
}

// ExpectNamespaces makes the allocators wait for the reports of a ClusterVectorSidecar from the namespaces that it
// selects. They do not wait for other namespaces, because a namespace outside the selection may have no reconcile. The
// arguments are the keys of its reconcile, and of the reconciles of the namespaces.
func (p *Scheduler) ExpectNamespaces(ctx context.Context, cluster types.NamespacedName, namespaces []types.NamespacedName) {
	for _, class := range plan.Classes() {
		p.notifier.Notify(p.allocatorFor(ctx, class).ReplaceExpected(cluster, namespaces, p.rules())...)
	}
}

// Report releases the rollout slots that a decision received but did not use.
func (p *Scheduler) Report(name types.NamespacedName, decision *decision.Decision, writtenPlans []*plan.Plan) {
	written := map[types.UID]bool{}
	for _, writtenPlan := range writtenPlans {
		written[writtenPlan.Target.UID] = true
	}
	for _, class := range plan.Classes() {
		healthy, failed := plan.CountInProgress(decision.Plans, class, written)
		p.notifier.Notify(p.allocators[class].Report(name, healthy, failed, p.rules())...)
	}
	p.recordSlots()
}

// Withdraw withdraws the demand of a VectorSidecar with a failed reconcile.
func (p *Scheduler) Withdraw(name types.NamespacedName) {
	for _, allocator := range p.allocators {
		p.notifier.Notify(allocator.Withdraw(name, p.rules())...)
	}
}

// Forget drops a deleted VectorSidecar.
func (p *Scheduler) Forget(name types.NamespacedName) {
	for _, allocator := range p.allocators {
		p.notifier.Notify(allocator.Forget(name, p.rules())...)
	}
	p.recordSlots()
}

func (p *Scheduler) recordSlots() {
	rules := p.rules()
	for class, allocator := range p.allocators {
		usage := allocator.Usage(rules)
		p.metrics.SetRolloutSlots(string(class), usage.Limit, usage.Used, usage.Waiting)
	}
}
