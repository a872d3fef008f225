// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// grow injects more and more Deployments, and measures the growth of the operator's CPU time: the slope in a plot
// of logarithms.
func (s sizes) grow(ctx context.Context, b *bench) error {
	var sizes, costs []float64
	t := table{title: "Growth with the matches", head: []string{"Deployments", "wall", "CPU of the operator", "each", "memory"}}
	for _, count := range s.growth {
		c, err := b.compete(ctx, count, 1, operatorContender)
		if err != nil {
			return err
		}
		made := c.rounds[byOperator][0]
		sizes, costs = append(sizes, float64(count)), append(costs, made.cpu.Seconds())
		t.add(count, rounded(made.wall), rounded(made.cpu), rounded(made.cpu/time.Duration(count)), mebibytes(made.memory))
	}
	b.tables = append(b.tables, t)
	steep := slope(sizes, costs)
	b.find(finding{fmt.Sprintf("growth from %d to %d Deployments", s.growth[0], s.growth[len(s.growth)-1]), "log-log slope 1.00 ± 0.05",
		fmt.Sprintf("%.2f", steep), math.Abs(steep-1) <= 0.05, steep})
	return nil
}

// slope returns the slope of the least-squares line through the logarithms.
func slope(xs, ys []float64) float64 {
	var sumX, sumY, sumXX, sumXY float64
	for n := range xs {
		x, y := math.Log(xs[n]), math.Log(ys[n])
		sumX, sumY, sumXX, sumXY = sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	n := float64(len(xs))
	return (n*sumXY - sumX*sumY) / (n*sumXX - sumX*sumX)
}

// crowdEvents is the number of changes of one workload over which the cost of one is averaged.
const crowdEvents = 1000

// crowded measures the additional cost of an event for each VectorSidecar in the namespace.
func (s sizes) crowded(ctx context.Context, b *bench) error {
	var costs []time.Duration
	for _, count := range s.crowd {
		cost, err := b.costOfEvent(ctx, count)
		if err != nil {
			return err
		}
		costs = append(costs, cost)
	}
	ratio := float64(costs[1]) / float64(costs[0])
	b.find(finding{fmt.Sprintf("cost of an event with %d and with %d VectorSidecars", s.crowd[0], s.crowd[1]), "± 5 %",
		fmt.Sprintf("%s and %s: %.2f ×", rounded(costs[0]), rounded(costs[1]), ratio), math.Abs(ratio-1) <= 0.05, ratio})
	return nil
}

// costOfEvent returns the operator's CPU time for one change of a selected Deployment, with many VectorSidecars of
// which one selects it.
func (b *bench) costOfEvent(ctx context.Context, sidecars int) (cost time.Duration, err error) {
	namespace, err := b.cluster.namespace(ctx, "crowd")
	if err != nil {
		return 0, err
	}
	err = each(ctx, sidecars-1, func(ctx context.Context, n int) error {
		name := fmt.Sprintf("other-%d", n)
		return b.cluster.Client.Create(ctx, objects.NewVectorSidecar(name, namespace).Selecting("group", name).Build())
	})
	if err := errors.Join(err, b.cluster.seed(ctx, namespace, spread, wanted)); err != nil {
		return 0, err
	}
	operator, err := b.program.start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, operator.stop(), b.empty(ctx, namespace)) }()
	if err := b.cluster.Client.Create(ctx, logs(namespace)); err != nil {
		return 0, err
	}
	if err := b.settled(ctx, namespace, "logs", matched(spread)); err != nil {
		return 0, err
	}
	if _, err := b.cluster.quiet(ctx, 5*time.Second); err != nil {
		return 0, err
	}
	spent, err := harness.CPU(operator.pid())
	if err != nil {
		return 0, err
	}
	for n := range crowdEvents {
		patch := fmt.Appendf(nil, "{\"metadata\":{\"annotations\":{\"change\":\"%d\"}}}", n)
		_, err := b.cluster.set.AppsV1().Deployments(namespace).Patch(ctx, appName(n%spread), types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return 0, err
		}
	}
	used, err := harness.CPU(operator.pid())
	return (used - spent) / crowdEvents, err
}
