// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// QueueMetrics are the metrics workqueue_*. They are the same metrics that controller-runtime publishes for its own
// queues.
type QueueMetrics struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, worked            *prometheus.HistogramVec
}

// NewQueueMetrics returns the metrics that controller-runtime has already registered in a registry,
// and registers the missing ones. The descriptions must equal controller-runtime's, because the
// registry rejects others.
func NewQueueMetrics(registry prometheus.Registerer) (*QueueMetrics, error) {
	labels := []string{"name", "controller"}
	name := func(metric string) string { return prometheus.BuildFQName("workqueue", "", metric) }
	gauge := func(metric, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name(metric), Help: help}, labels)
	}
	counter := func(metric, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name(metric), Help: help}, labels)
	}
	histogram := func(metric, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name(metric), Help: help, Buckets: prometheus.ExponentialBuckets(10e-9, 10, 12)}, labels)
	}
	m := &QueueMetrics{
		depth: gauge("depth", "Current depth of workqueue by workqueue and priority", "name", "controller", "priority"),
		unfinished: gauge("unfinished_work_seconds", "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. "+
			"Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.", labels...),
		longest: gauge("longest_running_processor_seconds", "How many seconds has the longest running processor for workqueue been running.", labels...),
		adds:    counter("adds_total", "Total number of adds handled by workqueue"),
		retries: counter("retries_total", "Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)"),
		latency: histogram("queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested"),
		worked:  histogram("work_duration_seconds", "How long in seconds processing an item from workqueue takes."),
	}
	return m, errors.Join(
		registerOrReuse(registry, &m.depth), registerOrReuse(registry, &m.unfinished), registerOrReuse(registry, &m.longest),
		registerOrReuse(registry, &m.adds), registerOrReuse(registry, &m.retries), registerOrReuse(registry, &m.latency), registerOrReuse(registry, &m.worked))
}

// registerOrReuse registers a collector. If the same collector is already registered, it sets the pointer to the registered
// one.
func registerOrReuse[C prometheus.Collector](registry prometheus.Registerer, collector *C) error {
	err := registry.Register(*collector)
	var registered prometheus.AlreadyRegisteredError
	if !errors.As(err, &registered) {
		return err
	}
	existing, ok := registered.ExistingCollector.(C)
	if !ok {
		return fmt.Errorf("using the registered %T: %w", registered.ExistingCollector, err)
	}
	*collector = existing
	return nil
}

// QueueRecorder records the metrics of one queue.
type QueueRecorder struct {
	name                string
	depth               *prometheus.GaugeVec
	adds, retries       prometheus.Counter
	latency, worked     prometheus.Observer
	unfinished, longest prometheus.Gauge
}

// ForQueue returns the recorder for the queue of a controller.
func (m *QueueMetrics) ForQueue(name string) *QueueRecorder {
	return &QueueRecorder{
		name: name, depth: m.depth, adds: m.adds.WithLabelValues(name, name), retries: m.retries.WithLabelValues(name, name),
		latency: m.latency.WithLabelValues(name, name), worked: m.worked.WithLabelValues(name, name),
		unfinished: m.unfinished.WithLabelValues(name, name), longest: m.longest.WithLabelValues(name, name),
	}
}

// RecordAdd counts an item that became ready.
func (r *QueueRecorder) RecordAdd() { r.adds.Inc() }

// RecordRetry counts an item that was added with a delay.
func (r *QueueRecorder) RecordRetry() { r.retries.Inc() }

// ChangeDepth changes the number of ready items of a priority.
func (r *QueueRecorder) ChangeDepth(priority, change int) {
	r.depth.WithLabelValues(r.name, r.name, strconv.Itoa(priority)).Add(float64(change))
}

// RecordWait records how long an item was ready before a worker started it.
func (r *QueueRecorder) RecordWait(waited time.Duration) { r.latency.Observe(waited.Seconds()) }

// RecordWork records how long a worker needed for an item.
func (r *QueueRecorder) RecordWork(worked time.Duration) { r.worked.Observe(worked.Seconds()) }

// SetUnfinished records the worker time of all items in progress, and of the longest one.
func (r *QueueRecorder) SetUnfinished(total, longest time.Duration) {
	r.unfinished.Set(total.Seconds())
	r.longest.Set(longest.Seconds())
}
