// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// fanOuts create a VectorSidecar that matches many Deployments, without a budget.
func (s sizes) fanOuts() []scenario {
	var all []scenario
	for _, count := range s.counts {
		all = append(all, scenario{fmt.Sprintf("fan-out-%d", count), func(ctx context.Context, b *bench) error { return s.fanOut(ctx, b, count) }})
	}
	return all
}

func (s sizes) fanOut(ctx context.Context, b *bench, count int) error {
	contenders := []contender{floorContender, operatorContender}
	if count <= s.against {
		contenders = append(contenders, kubectlContender, naiveContender)
	}
	c, err := b.compete(ctx, count, s.rounds, contenders...)
	if err != nil {
		return err
	}
	b.tables = append(b.tables, c.table())
	b.compareFanOut(c)
	return nil
}

func (b *bench) compareFanOut(c *contest) {
	what := fmt.Sprintf("fan-out to %d Deployments", c.count)
	ratio := c.ratio(byOperator, byFloor)
	b.find(finding{what, "≤ 1.10 × the floor", fmt.Sprintf("%.2f ×", ratio), ratio <= 1.10, ratio})
	for _, other := range []struct {
		name  string
		times float64
	}{{byNaive, 10}, {byKubectl, 2}} {
		if len(c.rounds[other.name]) > 0 {
			faster := c.ratio(other.name, byOperator)
			b.find(finding{what + ", and the " + other.name, fmt.Sprintf("≥ %.0f × faster", other.times), fmt.Sprintf("%.1f ×", faster), faster >= other.times, 1 / faster})
		}
	}
	all := c.rounds[byOperator]
	last := all[len(all)-1]
	writes, reads := 0, 0
	for key, count := range last.calls {
		switch key {
		case "APPLY deployments", "PATCH deployments", "PUT deployments":
			writes += count
		case "GET deployments", "LIST deployments":
			reads += count
		}
	}
	b.find(finding{what + ": calls for each injection", "1 write, 0 reads", fmt.Sprintf("%.3f writes, %.3f reads", share(writes, c.count), share(reads, c.count)),
		writes == c.count && reads == 0, share(writes, c.count)})
	told := last.calls["PATCH vectorsidecars/status"]
	most := 2 + int(last.wall.Seconds()+1)
	b.find(finding{what + ": status writes", fmt.Sprintf("≤ 2 + one a second: %d", most), fmt.Sprint(told), told <= most, 0})
}

func share(part, whole int) float64 { return float64(part) / float64(whole) }
