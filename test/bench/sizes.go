// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"strconv"
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// sizes has the size of each scenario.
type sizes struct {
	rounds  int
	counts  []int // numbers of Deployments that a VectorSidecar fans out to
	against int   // the largest of them that the slow contenders take part in
	fleets  []int // numbers of Deployments that the operator starts with
	mixed   int   // workloads of several kinds that it starts with
	// namespaces is the number of namespaces that one ClusterVectorSidecar selects.
	namespaces int
	idle       time.Duration
	sidecars   int // VectorSidecars beside an idle fleet
	storm      int // status-only events
	growth     []int
	crowd      [2]int // numbers of VectorSidecars
	changes    int    // labels added, at changesPerSecond
	flips      int    // changes of a ConfigMap
	flipped    int    // Deployments that refer to it
	paced      int    // Deployments under a budget, with controllers
	budget     int    // how many of them may roll out at once
	soak       time.Duration
	tenants    []int         // VectorSidecars of one tenant, beside another namespace
	still      time.Duration // at rest, and afterwards
	companions int           // VectorSidecars of one namespace with old companions
}

// short takes about four minutes on two cores.
var short = sizes{
	rounds: 3, counts: []int{300},
	fleets: []int{1000}, idle: 5 * time.Second, sidecars: 20, storm: 500,
	changes: 200, flips: 3, flipped: 100, namespaces: 100,
	still:      20 * time.Second,
	companions: 50,
}

// full takes more than half an hour.
var full = sizes{
	rounds: 3, counts: []int{500, 5000}, against: 500,
	fleets: []int{10000, 50000}, mixed: 10000, idle: 5 * time.Minute, sidecars: 100, storm: 50000,
	growth: []int{500, 1000, 2000, 5000, 10000, 20000}, crowd: [2]int{10, 1000},
	changes: 2000, flips: 60, flipped: 500, paced: 1000, budget: 20, namespaces: 1000,
	tenants: []int{400, 1500}, still: time.Minute,
	companions: 400,
}

// suites returns all scenarios of a size. Each suite has a new control plane, so that the content of etcd from one
// suite does not affect the next.
func suites(s sizes) []suite {
	all := []suite{
		{controlplane.Options{}, s.fanOuts()},
		{controlplane.Options{}, []scenario{{"latency", s.latency}}},
		// New content is applied when the previous rollout has finished, which requires controllers.
		{controlplane.Options{Controllers: true}, []scenario{{"flips", s.flip}}},
		{controlplane.Options{}, []scenario{{"fleet", s.fleet}}},
		{controlplane.Options{}, []scenario{{"injected", s.inject}}},
		{controlplane.Options{}, []scenario{{"namespaces", s.spread}}},
		{controlplane.Options{Controllers: true}, []scenario{{"companions", s.oldCompanions}}},
	}
	if len(s.growth) > 0 {
		all = append(all, suite{controlplane.Options{}, []scenario{{"growth", s.grow}, {"crowd", s.crowded}}})
	}
	if s.mixed > 0 {
		all = append(all, suite{controlplane.Options{}, []scenario{{"kinds", s.mix}}})
	}
	if s.paced > 0 {
		all = append(all, suite{controlplane.Options{Nodes: pacedNodes}, []scenario{{"paced", s.pace}}})
	}
	for _, count := range s.tenants {
		all = append(all, suite{controlplane.Options{Controllers: true}, []scenario{{"tenants", s.besideTenant(count)}}})
	}
	return all
}

// pacedNodes take 110 pods each.
const pacedNodes = 30

// override defines flags that change single sizes. The returned function applies them.
func override(flags *flag.FlagSet) func(*sizes) {
	var changes []func(*sizes)
	declare := func(name, usage string, set func(*sizes, []int)) {
		flags.Func(name, usage, func(text string) error {
			var numbers []int
			for one := range strings.SplitSeq(text, ",") {
				number, err := strconv.Atoi(one)
				if err != nil {
					return err
				}
				numbers = append(numbers, number)
			}
			changes = append(changes, func(s *sizes) { set(s, numbers) })
			return nil
		})
	}
	declare("rounds", "how often each contender takes its turn", func(s *sizes, n []int) { s.rounds = n[0] })
	declare("fan-outs", "Deployments to fan out to, one or several numbers", func(s *sizes, n []int) { s.counts = n })
	declare("against", "the largest fan-out that kubectl and the naive algorithm take part in", func(s *sizes, n []int) { s.against = n[0] })
	declare("fleets", "Deployments that the operator starts with, one or several numbers", func(s *sizes, n []int) { s.fleets = n })
	declare("mixed", "workloads of several kinds that the operator starts with", func(s *sizes, n []int) { s.mixed = n[0] })
	declare("namespaces", "namespaces that one ClusterVectorSidecar reaches", func(s *sizes, n []int) { s.namespaces = n[0] })
	declare("idle", "seconds to do nothing", func(s *sizes, n []int) { s.idle = time.Duration(n[0]) * time.Second })
	declare("storm", "status-only events", func(s *sizes, n []int) { s.storm = n[0] })
	declare("growth", "Deployments to grow to, several numbers", func(s *sizes, n []int) { s.growth = n })
	declare("changes", "labels to add", func(s *sizes, n []int) { s.changes = n[0] })
	declare("flips", "changes of a ConfigMap", func(s *sizes, n []int) { s.flips = n[0] })
	declare("flipped", "Deployments that refer to it", func(s *sizes, n []int) { s.flipped = n[0] })
	declare("paced", "Deployments under a budget", func(s *sizes, n []int) { s.paced = n[0] })
	declare("companions", "VectorSidecars of one namespace with old companions", func(s *sizes, n []int) { s.companions = n[0] })
	declare("budget", "how many of them may roll out at once", func(s *sizes, n []int) { s.budget = n[0] })
	declare("tenants", "VectorSidecars of one tenant, one or several numbers", func(s *sizes, n []int) { s.tenants = n })
	declare("still", "seconds at rest and afterwards, beside a tenant", func(s *sizes, n []int) { s.still = time.Duration(n[0]) * time.Second })
	declare("soak", "seconds for which each of them soaks; in all other scenarios none does", func(s *sizes, n []int) { s.soak = time.Duration(n[0]) * time.Second })
	return func(s *sizes) {
		for _, change := range changes {
			change(s)
		}
	}
}
