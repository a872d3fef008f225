// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metricFactory registers metrics by name, as MetricDefinitions defines them.
type metricFactory struct {
	definitions map[string]MetricDefinition
	register    promauto.Factory
}

// newMetricFactory returns a factory that registers metrics in a registry.
func newMetricFactory(registry prometheus.Registerer) metricFactory {
	m := metricFactory{definitions: map[string]MetricDefinition{}, register: promauto.With(registry)}
	for _, definition := range MetricDefinitions() {
		m.definitions[definition.Name] = definition
	}
	return m
}

// newCounter registers the counter with a name.
func (m metricFactory) newCounter(name string) *prometheus.CounterVec {
	definition := m.definitions[name]
	return m.register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: definition.Help}, definition.labels())
}

// newGauge registers the gauge with a name.
func (m metricFactory) newGauge(name string) *prometheus.GaugeVec {
	definition := m.definitions[name]
	return m.register.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: definition.Help}, definition.labels())
}

// newHistogram registers the histogram with a name. Its buckets range from 0.1 ms to 60 s.
func (m metricFactory) newHistogram(name string) *prometheus.HistogramVec {
	definition := m.definitions[name]
	return m.register.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: definition.Help,
		Buckets: []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, definition.labels())
}

// The metrics by subject. Each type initializes the series that will exist in any case, because a
// rate needs a value from before the first event.

// reconcileMetrics are the metrics of reconciles and of their steps.
type reconcileMetrics struct {
	results, renders, judgedAnew *prometheus.CounterVec
	duration                     *prometheus.HistogramVec
}

// Results of a reconcile.
const (
	ResultUnchanged = "unchanged"
	ResultChanged   = "changed"
	ResultStalled   = "stalled"
	ResultFailed    = "failed"
)

// newReconcileMetrics registers the metrics and initializes the series of all results.
func newReconcileMetrics(factory metricFactory) reconcileMetrics {
	m := reconcileMetrics{
		results: factory.newCounter(reconciles), renders: factory.newCounter(renders), judgedAnew: factory.newCounter(judgedAnew),
		duration: factory.newHistogram(duration),
	}
	for _, result := range []string{ResultUnchanged, ResultChanged, ResultStalled, ResultFailed} {
		m.results.WithLabelValues(result)
	}
	for _, result := range []string{"ok", "invalid"} {
		m.renders.WithLabelValues(result)
	}
	for _, result := range []string{"same", "different"} {
		m.judgedAnew.WithLabelValues(result)
	}
	return m
}

// workloadMetrics are the metrics of writes to workloads.
type workloadMetrics struct {
	writes  *prometheus.CounterVec
	repairs prometheus.Counter
}

// newWorkloadMetrics registers the metrics and initializes the series of successful writes, for each kind and action.
func newWorkloadMetrics(factory metricFactory, kinds []string) workloadMetrics {
	m := workloadMetrics{writes: factory.newCounter(writes), repairs: factory.newCounter(repairs).WithLabelValues()}
	for _, kind := range kinds {
		for _, action := range []string{"Inject", "Update", "Remove"} {
			m.writes.WithLabelValues(kind, action, "ok")
		}
	}
	return m
}

// leftoverMetrics are the metrics of leftovers, by action, and of removed leftovers.
type leftoverMetrics struct {
	counts  *prometheus.GaugeVec
	removed prometheus.Counter
}

// newLeftoverMetrics registers the metrics of leftovers.
func newLeftoverMetrics(factory metricFactory) leftoverMetrics {
	return leftoverMetrics{counts: factory.newGauge(leftover), removed: factory.newCounter(cleaned).WithLabelValues()}
}

// installationMetrics are the metrics of template sets, of the objects of the installation chart, and of the objects that the
// installation's values declare.
type installationMetrics struct{ templateSets, required, declaredObjects *prometheus.GaugeVec }

// newInstallationMetrics registers the metrics of the installation.
func newInstallationMetrics(factory metricFactory) installationMetrics {
	return installationMetrics{templateSets: factory.newGauge(templateSets), required: factory.newGauge(required), declaredObjects: factory.newGauge(declaredObjects)}
}

// webhookMetrics are the metrics of the admission webhook. They have no series if it is disabled.
type webhookMetrics struct {
	requests               *prometheus.CounterVec
	duration               *prometheus.HistogramVec
	validSince, validUntil *prometheus.GaugeVec
}

// Results of the admission webhook.
const (
	AnswerAllowed    = "allowed"
	AnswerRefused    = "denied"
	AnswerUndecided  = "undecided"
	AnswerUnreadable = "unreadable"
	AnswerRejected   = "rejected"
)

// newWebhookMetrics registers the metrics of the webhook without initializing series.
func newWebhookMetrics(factory metricFactory) webhookMetrics {
	return webhookMetrics{
		requests: factory.newCounter(admissions), duration: factory.newHistogram(judging),
		validSince: factory.newGauge(validSince), validUntil: factory.newGauge(validUntil),
	}
}

// initResults initializes the series of the results, after the webhook is known to be enabled.
func (m *webhookMetrics) initResults() {
	for _, result := range []string{AnswerAllowed, AnswerRefused, AnswerUndecided, AnswerUnreadable, AnswerRejected} {
		m.requests.WithLabelValues(result)
	}
}
