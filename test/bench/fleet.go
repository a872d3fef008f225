// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// spread is the number of namespaces of a large fleet.
const spread = 10

// fleet starts the operator on fleets of Deployments that no VectorSidecar selects: it measures the memory for
// each, the time to readiness, and the cost at rest.
func (s sizes) fleet(ctx context.Context, b *bench) error {
	var namespaces []string
	for range spread {
		namespace, err := b.cluster.namespace(ctx, "fleet")
		if err != nil {
			return err
		}
		namespaces = append(namespaces, namespace)
	}
	empty, err := b.settle(ctx)
	if err != nil {
		return err
	}
	const goal = 60 << 20
	b.find(finding{"no workloads: resident memory", "≤ " + mebibytes(goal), mebibytes(empty.resident), empty.resident <= goal, 0})
	defer func() { b.program.memoryLimit = 0 }()
	there := 0
	for _, count := range s.fleets {
		b.program.memoryLimit = limitFor(count)
		for n, namespace := range namespaces {
			if err := b.cluster.seedFrom(ctx, namespace, there/spread, count/spread, team(n)); err != nil {
				return err
			}
		}
		there = count
		filled, err := b.settle(ctx)
		if err != nil {
			return err
		}
		b.compareFleet(count, empty, filled)
	}
	for n := range s.sidecars {
		namespace := namespaces[n%spread]
		name := fmt.Sprintf("logs-%d", n)
		sidecar := objects.NewVectorSidecar(name, namespace).Selecting("group", name).Build()
		if err := b.cluster.Client.Create(ctx, sidecar); err != nil {
			return err
		}
	}
	if err := s.rest(ctx, b, namespaces[0], there); err != nil {
		return err
	}
	for _, namespace := range namespaces {
		err = errors.Join(err, b.empty(ctx, namespace))
	}
	return err
}

// team labels a share of the Deployments for the VectorSidecars of a namespace. With
// the versions of their charts, Deployments are of a thousand makes in all.
func team(namespace int) func(int, *appsv1.Deployment) {
	return func(n int, d *appsv1.Deployment) {
		metav1.SetMetaDataLabel(&d.ObjectMeta, "group", fmt.Sprintf("logs-%d", n%spread*spread+namespace))
		metav1.SetMetaDataLabel(&d.ObjectMeta, "helm.sh/chart", fmt.Sprintf("service-1.%d.0", n/spread%10))
	}
}

// limitFor is the memory limit of an operator with that many Deployments.
func limitFor(count int) int64 {
	if count > 10_000 {
		return productionLimit
	}
	return chartLimit
}

// sample is the cost of one start of the operator.
type sample struct {
	toReady, cpu       time.Duration
	resident, mostEver int64
}

// settle starts the operator, waits until it is idle, and stops it.
func (b *bench) settle(ctx context.Context) (found sample, err error) {
	operator, err := b.program.start(ctx)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, operator.stop()) }()
	found.toReady = operator.toReady
	// By then, the operator has released the memory that its start needed.
	if _, err := b.cluster.quiet(ctx, 3*time.Second); err != nil {
		return found, err
	}
	if found.mostEver, err = harness.Memory(operator.pid(), "VmHWM"); err != nil {
		return found, err
	}
	if found.resident, err = harness.Memory(operator.pid(), "VmRSS"); err != nil {
		return found, err
	}
	if found.cpu, err = harness.CPU(operator.pid()); err != nil || !b.profiles {
		return found, err
	}
	url := fmt.Sprintf("http://%s/debug/pprof/heap?gc=1", operator.pprof)
	return found, keep(ctx, url, b.file(fmt.Sprintf("heap-%d.pprof", b.program.starts)))
}

func (b *bench) compareFleet(count int, empty, filled sample) {
	goals := map[int]struct {
		memory int64
		ready  time.Duration
	}{10000: {100 << 20, time.Second}, 50000: {280 << 20, 4 * time.Second}}
	goal, has := goals[count]
	if !has {
		return // Of few, what a process needs to begin with is more than what they take.
	}
	what := fmt.Sprintf("%d Deployments", count)
	// At most 3 KiB in the cache, and half of it again until the garbage collector runs (GOGC=50).
	each := float64(filled.resident-empty.resident) / float64(count) / 1024
	b.find(finding{what + ": resident memory each, beyond that without any", "≤ 4.5 KiB", fmt.Sprintf("%.2f KiB", each), each <= 4.5, 0})
	b.find(finding{what + ": resident memory", "≤ " + mebibytes(goal.memory),
		fmt.Sprintf("%s, at most %s; without any %s", mebibytes(filled.resident), mebibytes(filled.mostEver), mebibytes(empty.resident)), filled.resident <= goal.memory, 0})
	b.find(finding{what + ": start to ready", "≤ " + goal.ready.String(),
		fmt.Sprintf("%s, %s CPU", rounded(filled.toReady), rounded(filled.cpu)), filled.toReady <= goal.ready, 0})
}

// rest makes the operator inject the selected Deployments, and measures it while it has nothing to do: without
// changes, during many status updates, and after a restart.
func (s sizes) rest(ctx context.Context, b *bench, namespace string, there int) (err error) {
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, operator.stop())
		}
	}()
	if err := s.idles(ctx, b, operator, fmt.Sprintf("%d Deployments", there)); err != nil {
		return err
	}
	if err := s.stormOn(ctx, b, operator, namespace); err != nil {
		return err
	}
	stopped = true
	if err := operator.stop(); err != nil {
		return err
	}
	before, err := b.cluster.quiet(ctx, time.Second)
	if err != nil {
		return err
	}
	if _, err := b.settle(ctx); err != nil {
		return err
	}
	again, err := readCalls(ctx, b.cluster.set)
	writes := again.since(before)
	for key := range writes {
		if isRead(key) {
			delete(writes, key)
		}
	}
	b.find(finding{fmt.Sprintf("a restart with %d Deployments and %d VectorSidecars", there, s.sidecars), "0 writes", writes.String(), writes.total() == 0, 0})
	return err
}

// idles measures the operator while it has nothing to do.
func (s sizes) idles(ctx context.Context, b *bench, operator *process, among string) error {
	before, err := b.cluster.quiet(ctx, 10*time.Second)
	if err != nil {
		return err
	}
	spent, err := harness.CPU(operator.pid())
	if err != nil {
		return err
	}
	if err := pause(ctx, s.idle); err != nil {
		return err
	}
	after, used, err := b.spentSince(ctx, operator, before, spent)
	if err != nil {
		return err
	}
	share := 100 * used.Seconds() / s.idle.Seconds()
	b.find(finding{fmt.Sprintf("idle with %s and %d VectorSidecars for %s", among, s.sidecars, s.idle),
		"0 requests, ≤ 0.2 % of a core", fmt.Sprintf("%s requests, %.2f %%", after, share), after.total() == 0 && share <= 0.2, 0})
	return nil
}

// stormOn updates the status of Deployments in fields that the operator does not use.
func (s sizes) stormOn(ctx context.Context, b *bench, operator *process, namespace string) error {
	all, err := b.cluster.set.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{Limit: 500})
	if err != nil {
		return err
	}
	before, err := b.cluster.quiet(ctx, time.Second)
	if err != nil {
		return err
	}
	spent, err := harness.CPU(operator.pid())
	if err != nil {
		return err
	}
	err = each(ctx, s.storm, func(ctx context.Context, n int) error {
		patch := fmt.Appendf(nil, "{\"status\":{\"collisionCount\":%d}}", n)
		name := all.Items[n%len(all.Items)].Name
		_, err := b.cluster.set.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	if err != nil {
		return err
	}
	calls, used, err := b.spentSince(ctx, operator, before, spent)
	if err != nil {
		return err
	}
	delete(calls, "PATCH deployments/status")
	each := used / time.Duration(s.storm)
	b.find(finding{fmt.Sprintf("storm of %d status-only events", s.storm), "0 requests; ≤ 10 µs each beyond decoding, see BenchmarkStatusOnlyEvent",
		fmt.Sprintf("%s requests; %s each, connection and decoding included", calls, rounded(each)), calls.total() == 0, 0})
	return nil
}

// spentSince returns the calls, and the operator's CPU time, since an earlier measurement.
func (b *bench) spentSince(ctx context.Context, operator *process, before calls, spent time.Duration) (calls, time.Duration, error) {
	used, err := harness.CPU(operator.pid())
	if err != nil {
		return nil, 0, err
	}
	after, err := readCalls(ctx, b.cluster.set)
	return after.since(before), used - spent, err
}

// matched returns a condition: a VectorSidecar reports count matches.
func matched(count int) func(*v1alpha1.VectorSidecar) bool {
	return func(sidecar *v1alpha1.VectorSidecar) bool { return int(sidecar.Status.MatchedDeployments) == count }
}
