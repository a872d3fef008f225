// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// contest has the results of interleaved rounds of some contenders.
type contest struct {
	count  int
	order  []string
	rounds map[string][]round
}

// compete makes each contender inject its own namespace, in turn, so that other load on the machine affects all of
// them.
func (b *bench) compete(ctx context.Context, count, rounds int, contenders ...contender) (*contest, error) {
	c := &contest{count: count, rounds: map[string][]round{}}
	for _, one := range contenders {
		c.order = append(c.order, one.name)
	}
	for n := range rounds {
		for _, one := range contenders {
			namespace, err := b.cluster.namespace(ctx, "fan-out")
			if err != nil {
				return nil, err
			}
			if err := b.cluster.seed(ctx, namespace, count, wanted); err != nil {
				return nil, fmt.Errorf("seeding %d Deployments: %w", count, err)
			}
			made, err := one.run(ctx, b, namespace, count)
			if err != nil {
				return nil, fmt.Errorf("round %d of %s over %d Deployments: %w", n+1, one.name, count, err)
			}
			b.tell("%d Deployments, round %d: %s in %s, %s CPU; %s", count, n+1, one.name, rounded(made.wall), rounded(made.cpu), made.calls)
			c.rounds[one.name] = append(c.rounds[one.name], made)
			if err := b.empty(ctx, namespace); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// walls returns the durations of a contender's rounds, sorted.
func (c *contest) walls(name string) []time.Duration {
	var all []time.Duration
	for _, r := range c.rounds[name] {
		all = append(all, r.wall)
	}
	slices.Sort(all)
	return all
}

// ratio returns the ratio of the medians of two contenders.
func (c *contest) ratio(of, to string) float64 {
	return float64(median(c.walls(of))) / float64(median(c.walls(to)))
}

// table returns a table with one line for each contender.
func (c *contest) table() table {
	t := table{
		title: fmt.Sprintf("Fan-out to %d Deployments", c.count),
		head:  []string{"", "min", "median", "max", "÷ floor", "CPU", "memory", "calls of the last round"},
	}
	for _, name := range c.order {
		walls, all := c.walls(name), c.rounds[name]
		last := all[len(all)-1]
		cpu := make([]time.Duration, 0, len(all))
		peak := int64(0)
		for _, r := range all {
			cpu, peak = append(cpu, r.cpu), max(peak, r.memory)
		}
		slices.Sort(cpu)
		memory := "–"
		if peak > 0 {
			memory = mebibytes(peak)
		}
		t.add(name, rounded(walls[0]), rounded(median(walls)), rounded(walls[len(walls)-1]),
			fmt.Sprintf("%.2f", c.ratio(name, byFloor)), rounded(median(cpu)), memory, last.calls.String())
	}
	return t
}

// median returns the median of sorted values.
func median[T any](sorted []T) T { return sorted[len(sorted)/2] }

// percentile returns a percentile of sorted values.
func percentile[T any](sorted []T, percent int) T {
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
