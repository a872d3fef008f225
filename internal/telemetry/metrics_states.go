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

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// SidecarState is the state of one VectorSidecar.
type SidecarState struct {
	// Ready is the status of the condition Ready, and Reason its reason.
	Ready, Reason string
	// Workloads is iterated once; nil means that they have not changed.
	Workloads iter.Seq[WorkloadState]
}

// WorkloadState is the state of one workload.
type WorkloadState struct {
	UID types.UID
	// Kind is the kind of the workload, such as Deployment.
	Kind string
	// State and Reason are as in status.workloads; Reason may be empty.
	State, Reason string
	// IsLongWait reports whether the workload waits for a rollout window, a wave or the end of a halt, even if rollout
	// slots are free.
	IsLongWait bool
}

// stateKey is a state with its reason, by which VectorSidecars are counted.
type stateKey struct{ state, reason string }

// workloadKey is a kind with a state and a reason, by which workloads are counted.
type workloadKey struct {
	kind string
	stateKey
}

// workloadStates contains the state of every workload of every VectorSidecar. It counts the states when Prometheus
// scrapes the metrics.
type workloadStates struct {
	now func() time.Time

	workloads, objects, namespaces, oldest *prometheus.Desc

	mu       sync.Mutex
	sidecars map[types.NamespacedName]*sidecarStates
}

// sidecarStates has the states of one VectorSidecar.
type sidecarStates struct {
	ready  stateKey
	counts map[workloadKey]int
	// tracked are the workloads that wait or are stuck.
	tracked map[types.UID]trackedState
}

// trackedState is the state of a workload, and the time when the state started.
type trackedState struct {
	stateKey
	since time.Time
	// isLongWait reports whether the workload waits for a rollout window, a wave or the end of a halt.
	isLongWait bool
}

// newWorkloadStates returns a collector without VectorSidecars, with the descriptions of its metrics.
func newWorkloadStates(now func() time.Time) *workloadStates {
	f := &workloadStates{now: now, sidecars: map[types.NamespacedName]*sidecarStates{}}
	for _, d := range MetricDefinitions() {
		switch d.Name {
		case workloads:
			f.workloads = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		case objects:
			f.objects = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		case namespaces:
			f.namespaces = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		case oldestWaiting:
			f.oldest = prometheus.NewDesc(d.Name, d.Help, d.labels(), nil)
		}
	}
	return f
}

// waiting is the state of a workload that waits to roll out.
const waiting = "Waiting"

// stuck are the states that a workload leaves only when a user acts.
var stuck = []string{"Conflict", "Blocked", "Rejected"}

// replaceState replaces the state of a VectorSidecar. It returns the reason of each workload that has newly
// become stuck.
func (f *workloadStates) replaceState(sidecar types.NamespacedName, state SidecarState) (reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	previous := f.sidecars[sidecar]
	current := &sidecarStates{ready: stateKey{state.Ready, state.Reason}, counts: map[workloadKey]int{}, tracked: map[types.UID]trackedState{}}
	if state.Workloads == nil {
		if previous != nil {
			current.counts, current.tracked = previous.counts, previous.tracked
		}
		state.Workloads = func(func(WorkloadState) bool) {}
	}
	for w := range state.Workloads {
		key := stateKey{w.State, w.Reason}
		current.counts[workloadKey{w.Kind, key}]++
		isStuck := slices.Contains(stuck, w.State)
		if !isStuck && w.State != waiting {
			continue
		}
		entry := trackedState{stateKey: key, since: f.now(), isLongWait: w.IsLongWait}
		previousEntry := trackedState{}
		if previous != nil {
			previousEntry = previous.tracked[w.UID]
		}
		if previousEntry.state == entry.state {
			entry.since = previousEntry.since
		}
		if previousEntry.stateKey != entry.stateKey && isStuck {
			reasons = append(reasons, entry.reason)
		}
		current.tracked[w.UID] = entry
	}
	f.sidecars[sidecar] = current
	return reasons
}

// remove removes the state of a deleted VectorSidecar.
func (f *workloadStates) remove(sidecar types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sidecars, sidecar)
}

// Describe implements prometheus.Collector.
func (f *workloadStates) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- f.workloads
	descriptions <- f.objects
	descriptions <- f.namespaces
	descriptions <- f.oldest
}

// Collect implements prometheus.Collector.
func (f *workloadStates) Collect(samples chan<- prometheus.Metric) {
	states, ready, inNamespaces, oldest := f.countStates()
	for key, n := range states {
		samples <- prometheus.MustNewConstMetric(f.workloads, prometheus.GaugeValue, float64(n), key.kind, key.state, key.reason)
	}
	for key, n := range ready {
		samples <- prometheus.MustNewConstMetric(f.objects, prometheus.GaugeValue, float64(n), key.state, key.reason)
	}
	for key, n := range inNamespaces {
		samples <- prometheus.MustNewConstMetric(f.namespaces, prometheus.GaugeValue, float64(n), key.state, key.reason)
	}
	samples <- prometheus.MustNewConstMetric(f.oldest, prometheus.GaugeValue, oldest.Seconds())
}

// countStates counts the workloads and the VectorSidecars by state. It counts the namespaces of ClusterVectorSidecars
// separately. oldest is the longest time for which a workload has waited, 0 for none.
func (f *workloadStates) countStates() (states map[workloadKey]int, ready, inNamespaces map[stateKey]int, oldest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	states, ready, inNamespaces = map[workloadKey]int{}, map[stateKey]int{}, map[stateKey]int{}
	for name, sidecar := range f.sidecars {
		if _, isCluster := meta.ParseClusterName(name.Name); isCluster && name.Namespace != "" {
			inNamespaces[sidecar.ready]++
		} else {
			ready[sidecar.ready]++
		}
		for key, n := range sidecar.counts {
			states[key] += n
		}
		for _, w := range sidecar.tracked {
			if w.state == waiting && !w.isLongWait {
				oldest = max(oldest, f.now().Sub(w.since))
			}
		}
	}
	return states, ready, inNamespaces, oldest
}
