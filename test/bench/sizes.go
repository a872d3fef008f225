// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// sizes are how much of each scenario a run does.
type sizes struct {
	rounds   int
	fanOuts  []int // numbers of Deployments
	against  int   // the largest of them that the slow contenders take part in
	fleets   []int // numbers of Deployments that the operator starts with
	idle     time.Duration
	sidecars int // VectorSidecars beside an idle fleet
	storm    int // status-only events
	growth   []int
	crowd    [2]int // numbers of VectorSidecars
	changes  int    // labels added, at changesPerSecond
	flips    int    // changes of a ConfigMap
	flipped  int    // Deployments that refer to it
	paced    int    // Deployments under a budget, with controllers
}

var short = sizes{
	rounds: 2, fanOuts: []int{1000}, against: 0,
}

var full = sizes{
	rounds: 3, fanOuts: []int{500, 5000}, against: 500,
}

func suites(s sizes) []suite {
	return []suite{
		{controlplane.Options{}, []scenario{
			{"fan-out", s.fanOut},
		}},
	}
}
