// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// SidecarState is how one VectorSidecar stands.
type SidecarState struct {
	// Ready is the status of that condition, and Reason its reason.
	Ready, Reason string
	// Workloads are not nil, and gone through once.
	Workloads iter.Seq[WorkloadState]
}

// WorkloadState is where one workload stands.
type WorkloadState struct {
	UID types.UID
	// State and Reason are those of status.unsettled; Reason may be empty.
	State, Reason string
}

// place is what is counted: it holds no names.
type place struct{ state, reason string }

// fleet knows where every workload of every VectorSidecar stands, and counts them
// when it is asked.
type fleet struct {
	now func() time.Time

	workloads, objects, oldest *prometheus.Desc

	mu       sync.Mutex
	sidecars map[types.NamespacedName]*member
}

// member is one VectorSidecar of the fleet.
type member struct {
	ready  place
	counts map[place]int
	// held are the workloads that do not get on by themselves.
	held map[types.UID]stay
}

// stay is where a workload stands, and since when.
type stay struct {
	place
	since time.Time
}

func newFleet(now func() time.Time) *fleet {
	f := &fleet{now: now, sidecars: map[types.NamespacedName]*member{}}
	for _, d := range MetricDefinitions() {
		switch d.Name {
		case workloads:
			f.workloads = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		case objects:
			f.objects = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		case oldestWaiting:
			f.oldest = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		}
	}
	return f
}

// waiting is the state of a workload whose turn has not come, and stuck are those that
// a workload does not leave without a person.
const waiting = "Waiting"

var stuck = []string{"Conflict", "Blocked", "Refused"}

// put takes the place of what was known of a VectorSidecar. It returns the reason
// of each workload that has come to be stuck.
func (f *fleet) put(sidecar types.NamespacedName, standing SidecarState) (reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.sidecars[sidecar]
	after := &member{ready: place{standing.Ready, standing.Reason}, counts: map[place]int{}, held: map[types.UID]stay{}}
	for w := range standing.Workloads {
		at := place{w.State, w.Reason}
		after.counts[at]++
		isStuck := slices.Contains(stuck, w.State)
		if !isStuck && w.State != waiting {
			continue
		}
		now := stay{place: at, since: f.now()}
		was := stay{}
		if before != nil {
			was = before.held[w.UID]
		}
		if was.state == now.state {
			now.since = was.since
		}
		if was.place != now.place && isStuck {
			reasons = append(reasons, now.reason)
		}
		after.held[w.UID] = now
	}
	f.sidecars[sidecar] = after
	return reasons
}

func (f *fleet) drop(sidecar types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sidecars, sidecar)
}

// Describe implements prometheus.Collector.
func (f *fleet) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- f.workloads
	descriptions <- f.objects
	descriptions <- f.oldest
}

// Collect implements prometheus.Collector.
func (f *fleet) Collect(samples chan<- prometheus.Metric) {
	standing, ready, oldest := f.count()
	for at, n := range standing {
		samples <- prometheus.MustNewConstMetric(f.workloads, prometheus.GaugeValue, float64(n), at.state, at.reason)
	}
	for at, n := range ready {
		samples <- prometheus.MustNewConstMetric(f.objects, prometheus.GaugeValue, float64(n), at.state, at.reason)
	}
	samples <- prometheus.MustNewConstMetric(f.oldest, prometheus.GaugeValue, oldest.Seconds())
}

func (f *fleet) count() (standing, ready map[place]int, oldest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	standing, ready = map[place]int{}, map[place]int{}
	for _, sidecar := range f.sidecars {
		ready[sidecar.ready]++
		for at, n := range sidecar.counts {
			standing[at] += n
		}
		for _, w := range sidecar.held {
			if w.state == waiting {
				oldest = max(oldest, f.now().Sub(w.since))
			}
		}
	}
	return standing, ready, oldest
}
