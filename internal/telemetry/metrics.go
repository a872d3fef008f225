// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Metrics are one operator's metrics. It is a prometheus.Collector, to be registered once. A
// nil Metrics is a no-op.
type Metrics struct {
	reconciles, renders, writes, conflicts *prometheus.CounterVec
	judgedAnew, liveLists                  *prometheus.CounterVec
	repairs, cleaned, differences          prometheus.Counter
	duration                               *prometheus.HistogramVec
	leftovers, templateSets                *prometheus.GaugeVec
	cached, buildInfo                      *prometheus.GaugeVec
	admissions                             *prometheus.CounterVec
	judging                                *prometheus.HistogramVec
	validSince, validUntil                 *prometheus.GaugeVec
	fleet                                  *fleet

	parts []prometheus.Collector
}

// NewMetrics returns the metrics for an operator version; now is the clock.
func NewMetrics(version string, now func() time.Time) *Metrics {
	m := &Metrics{fleet: newFleet(now)}
	described := map[string]MetricDefinition{}
	for _, definition := range MetricDefinitions() {
		described[definition.Name] = definition
	}
	counter := func(name string) *prometheus.CounterVec {
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: described[name].Help}, described[name].labels())
		m.parts = append(m.parts, vector)
		return vector
	}
	gauge := func(name string) *prometheus.GaugeVec {
		vector := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: described[name].Help}, described[name].labels())
		m.parts = append(m.parts, vector)
		return vector
	}
	m.reconciles, m.renders, m.writes, m.conflicts = counter(reconciles), counter(renders), counter(writes), counter(conflicts)
	m.judgedAnew, m.liveLists, m.differences = counter(judgedAnew), counter(liveLists), counter(differences).WithLabelValues()
	m.repairs, m.cleaned = counter(repairs).WithLabelValues(), counter(cleaned).WithLabelValues()
	m.leftovers, m.templateSets, m.cached, m.buildInfo = gauge(leftover), gauge(templateSets), gauge(cached), gauge(buildInfo)
	m.admissions, m.validSince, m.validUntil = counter(admissions), gauge(validSince), gauge(validUntil)
	histogram := func(name string) *prometheus.HistogramVec {
		vector := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: described[name].Help,
			Buckets: []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, described[name].labels())
		m.parts = append(m.parts, vector)
		return vector
	}
	m.duration, m.judging = histogram(duration), histogram(judging)
	m.parts = append(m.parts, m.fleet)
	m.start(version)
	return m
}

// start initializes the series that are sure to come: a rate needs a value from before the
// first event.
func (m *Metrics) start(version string) {
	for _, result := range []string{ResultUnchanged, ResultChanged, ResultStalled, ResultFailed} {
		m.reconciles.WithLabelValues(result)
	}
	for _, result := range []string{"ok", "invalid"} {
		m.renders.WithLabelValues(result)
	}
	for _, action := range []string{"Inject", "Update", "Remove"} {
		m.writes.WithLabelValues(action, "ok")
	}
	for _, result := range []string{"same", "different"} {
		m.judgedAnew.WithLabelValues(result)
		m.liveLists.WithLabelValues(result)
	}
	m.buildInfo.WithLabelValues(version).Set(1)
}

// Results of a reconcile.
const (
	ResultUnchanged = "unchanged"
	ResultChanged   = "changed"
	ResultStalled   = "stalled"
	ResultFailed    = "failed"
)

// Reconciled counts a reconcile with one of the Result constants.
func (m *Metrics) Reconciled(result string) {
	if m != nil {
		m.reconciles.WithLabelValues(result).Inc()
	}
}

// Took records the duration of a step.
func (m *Metrics) Took(step string, elapsed time.Duration) {
	if m != nil {
		m.duration.WithLabelValues(step).Observe(elapsed.Seconds())
	}
}

// Rendered counts an execution of the templates.
func (m *Metrics) Rendered(ok bool) {
	if m == nil {
		return
	}
	result := "ok"
	if !ok {
		result = "invalid"
	}
	m.renders.WithLabelValues(result).Inc()
}

// Wrote counts an attempt to write a workload.
func (m *Metrics) Wrote(action, result string) {
	if m != nil {
		m.writes.WithLabelValues(action, result).Inc()
	}
}

// Repaired counts a write that reverted someone else's change.
func (m *Metrics) Repaired() {
	if m != nil {
		m.repairs.Inc()
	}
}

// Leftovers sets how many leftovers have a verdict.
func (m *Metrics) Leftovers(verdict string, count int) {
	if m != nil {
		m.leftovers.WithLabelValues(verdict).Set(float64(count))
	}
}

// Cleaned counts a leftover that was removed.
func (m *Metrics) Cleaned() {
	if m != nil {
		m.cleaned.Inc()
	}
}

// sameOr returns the label value for the result of a comparison.
func sameOr(differs bool) string {
	if differs {
		return "different"
	}
	return "same"
}

// JudgedAnew counts a VectorSidecar that was evaluated from scratch.
func (m *Metrics) JudgedAnew(differs bool) {
	if m != nil {
		m.judgedAnew.WithLabelValues(sameOr(differs)).Inc()
	}
}

// Audited counts a comparison of the cache with the live workloads, and those that differ.
func (m *Metrics) Audited(differing int) {
	if m != nil {
		m.liveLists.WithLabelValues(sameOr(differing > 0)).Inc()
		m.differences.Add(float64(differing))
	}
}

// AuditFailed counts a comparison that failed.
func (m *Metrics) AuditFailed() {
	if m != nil {
		m.liveLists.WithLabelValues("failed").Inc()
	}
}

// Sets sets how many template sets are good and how many are broken.
func (m *Metrics) Sets(good, broken int) {
	if m != nil {
		m.templateSets.WithLabelValues("good").Set(float64(good))
		m.templateSets.WithLabelValues("broken").Set(float64(broken))
	}
}

// Cached adds to the number of objects of a kind in the cache.
func (m *Metrics) Cached(kind string, more int) {
	if m != nil {
		m.cached.WithLabelValues(kind).Add(float64(more))
	}
}

// Results of the admission webhook.
const (
	AnswerAllowed    = "allowed"
	AnswerRefused    = "refused"
	AnswerUndecided  = "undecided"
	AnswerUnreadable = "unreadable"
	AnswerRejected   = "rejected"
)

// Judged counts a response of the admission webhook and records its duration.
func (m *Metrics) Judged(result string, elapsed time.Duration) {
	if m != nil {
		m.admissions.WithLabelValues(result).Inc()
		m.judging.WithLabelValues().Observe(elapsed.Seconds())
	}
}

// Rejected counts a request that the admission webhook rejected without evaluating it.
func (m *Metrics) Rejected() {
	if m != nil {
		m.admissions.WithLabelValues(AnswerRejected).Inc()
	}
}

// Certified sets the validity of the admission webhook's certificate.
func (m *Metrics) Certified(notBefore, notAfter time.Time) {
	if m != nil {
		m.validSince.WithLabelValues().Set(float64(notBefore.Unix()))
		m.validUntil.WithLabelValues().Set(float64(notAfter.Unix()))
		for _, result := range []string{AnswerAllowed, AnswerRefused, AnswerUndecided, AnswerUnreadable, AnswerRejected} {
			m.admissions.WithLabelValues(result) // A rate needs a value from before the first event.
		}
	}
}

// Stand sets the state of a VectorSidecar after a reconcile.
func (m *Metrics) Stand(sidecar types.NamespacedName, state SidecarState) {
	if m == nil {
		return
	}
	for _, reason := range m.fleet.set(sidecar, state) {
		m.conflicts.WithLabelValues(reason).Inc()
	}
}

// Forget removes a VectorSidecar that was deleted.
func (m *Metrics) Forget(sidecar types.NamespacedName) {
	if m != nil {
		m.fleet.remove(sidecar)
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, part := range m.parts {
		part.Describe(descriptions)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(samples chan<- prometheus.Metric) {
	for _, part := range m.parts {
		part.Collect(samples)
	}
}

func (d MetricDefinition) labels() []string {
	var names []string
	for _, label := range d.Labels {
		names = append(names, label.Name)
	}
	return names
}
