// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// Metrics are one operator's metrics. It is a prometheus.Collector that must be registered
// once.
type Metrics struct {
	// Collector collects all metrics.
	prometheus.Collector

	reconciles    reconcileMetrics
	workloads     workloadMetrics
	leftovers     leftoverMetrics
	cachedObjects *prometheus.GaugeVec
	webhook       webhookMetrics

	installation installationMetrics
	rolloutSlots *prometheus.GaugeVec
	waves        *prometheus.GaugeVec
	halted       prometheus.Gauge
	stopped      prometheus.Gauge
	preflights   *prometheus.CounterVec
	conflicts    *prometheus.CounterVec
	// droppedEvents counts the Kubernetes events that are not sent because too many others wait.
	droppedEvents prometheus.Counter
	states        *workloadStates
}

// NewMetrics returns the metrics for an operator version and its enabled kinds of workloads. The
// clock is an argument.
func NewMetrics(version string, now func() time.Time, kinds ...string) *Metrics {
	registry := prometheus.NewRegistry()
	factory := newMetricFactory(registry)
	m := &Metrics{
		Collector:  registry,
		reconciles: newReconcileMetrics(factory), workloads: newWorkloadMetrics(factory, kinds), leftovers: newLeftoverMetrics(factory),
		cachedObjects: factory.newGauge(cached), webhook: newWebhookMetrics(factory),
		installation: newInstallationMetrics(factory), rolloutSlots: factory.newGauge(rolloutSlots), waves: factory.newGauge(waveSidecars), conflicts: factory.newCounter(conflicts), preflights: factory.newCounter(preflights), states: newWorkloadStates(now),
	}
	for _, result := range preflight.Results() {
		m.preflights.WithLabelValues(string(result))
	}
	for _, state := range declared.States() {
		m.SetDeclaredObjects(string(state), 0)
	}
	m.droppedEvents = factory.newCounter(droppedEvents).WithLabelValues()
	m.halted, m.stopped = factory.newGauge(halted).WithLabelValues(), factory.newGauge(writesStopped).WithLabelValues()
	factory.newGauge(buildInfo).WithLabelValues(version).Set(1)
	registry.MustRegister(m.states)
	return m
}

// RecordReconcile counts a reconcile with one of the Result constants.
func (m *Metrics) RecordReconcile(result string) {
	m.reconciles.results.WithLabelValues(result).Inc()
}

// RecordDuration records the duration of a step.
func (m *Metrics) RecordDuration(step string, elapsed time.Duration) {
	m.reconciles.duration.WithLabelValues(step).Observe(elapsed.Seconds())
}

// RecordRender counts an execution of the templates.
func (m *Metrics) RecordRender(ok bool) {
	result := "ok"
	if !ok {
		result = "invalid"
	}
	m.reconciles.renders.WithLabelValues(result).Inc()
}

// RecordWrite counts an attempt to write a workload.
func (m *Metrics) RecordWrite(kind, action, result string) {
	m.workloads.writes.WithLabelValues(kind, action, result).Inc()
}

// RecordPreflight counts a sidecar that a preflight dry run has checked before it is written.
func (m *Metrics) RecordPreflight(result string) {
	m.preflights.WithLabelValues(result).Inc()
}

// RecordCorrection counts a write that reverted a manual change.
func (m *Metrics) RecordCorrection() {
	m.workloads.repairs.Inc()
}

// RecordDroppedEvent counts a Kubernetes event that is not sent because too many others wait.
func (m *Metrics) RecordDroppedEvent() {
	m.droppedEvents.Inc()
}

// SetLeftovers sets the number of leftovers for an action.
func (m *Metrics) SetLeftovers(verdict string, count int) {
	m.leftovers.counts.WithLabelValues(verdict).Set(float64(count))
}

// RecordRemovedLeftover counts a leftover that was removed.
func (m *Metrics) RecordRemovedLeftover() {
	m.leftovers.removed.Inc()
}

// comparisonLabel returns the label value for the result of a comparison.
func comparisonLabel(differs bool) string {
	if differs {
		return "different"
	}
	return "same"
}

// RecordResync counts a VectorSidecar that was evaluated from scratch.
func (m *Metrics) RecordResync(differs bool) {
	m.reconciles.judgedAnew.WithLabelValues(comparisonLabel(differs)).Inc()
}

// SetTemplateSets sets the numbers of valid and invalid template sets.
func (m *Metrics) SetTemplateSets(good, broken int) {
	m.installation.templateSets.WithLabelValues("valid").Set(float64(good))
	m.installation.templateSets.WithLabelValues("invalid").Set(float64(broken))
}

// SetRolloutSlots sets the number of rollout slots of a class, 0 for unlimited, the number of used slots,
// and the number of workloads that wait for a slot.
func (m *Metrics) SetRolloutSlots(class string, limit, used, waiting int) {
	m.rolloutSlots.WithLabelValues(class, "limit").Set(float64(limit))
	m.rolloutSlots.WithLabelValues(class, "used").Set(float64(used))
	m.rolloutSlots.WithLabelValues(class, "waiting").Set(float64(waiting))
}

// SetWaves sets, for each wave, the numbers of VectorSidecars that wait for the revision, progress with it, or have
// finished it. It also sets whether the revision is halted.
func (m *Metrics) SetWaves(counts []fleet.WaveCount, isHalted bool) {
	m.waves.Reset() // The waves may have changed.
	for _, count := range counts {
		m.waves.WithLabelValues(count.Wave, "waiting").Set(float64(count.Waiting))
		m.waves.WithLabelValues(count.Wave, "progressing").Set(float64(count.Progressing))
		m.waves.WithLabelValues(count.Wave, "finished").Set(float64(count.Finished))
	}
	m.halted.Set(0)
	if isHalted {
		m.halted.Set(1)
	}
}

// SetWritesStopped sets whether all writes except removals are stopped.
func (m *Metrics) SetWritesStopped(isStopped bool) {
	m.stopped.Set(0)
	if isStopped {
		m.stopped.Set(1)
	}
}

// SetRequiredObjects sets the number of objects in a state, for the objects of the installation chart
// that the operator depends on.
func (m *Metrics) SetRequiredObjects(state string, count int) {
	m.installation.required.WithLabelValues(state).Set(float64(count))
}

// SetDeclaredObjects sets the number of objects in a state, for the objects that the installation's values declare.
func (m *Metrics) SetDeclaredObjects(state string, count int) {
	m.installation.declaredObjects.WithLabelValues(state).Set(float64(count))
}

// AddCachedObjects adds to the number of objects of a kind in the cache.
func (m *Metrics) AddCachedObjects(kind string, delta int) {
	m.cachedObjects.WithLabelValues(kind).Add(float64(delta))
}

// RecordAdmission counts a response of the admission webhook and records its duration.
func (m *Metrics) RecordAdmission(result string, elapsed time.Duration) {
	m.webhook.requests.WithLabelValues(result).Inc()
	m.webhook.duration.WithLabelValues().Observe(elapsed.Seconds())
}

// RecordRejectedRequest counts a request that the admission webhook rejected without evaluating it.
func (m *Metrics) RecordRejectedRequest() {
	m.webhook.requests.WithLabelValues(AnswerRejected).Inc()
}

// SetCertificateValidity sets the validity of the admission webhook's certificate. It also initializes the counters of
// the webhook's results, because only an installation with the webhook has a certificate.
func (m *Metrics) SetCertificateValidity(notBefore, notAfter time.Time) {
	m.webhook.validSince.WithLabelValues().Set(float64(notBefore.Unix()))
	m.webhook.validUntil.WithLabelValues().Set(float64(notAfter.Unix()))
	m.webhook.initResults()
}

// SetSidecarState sets the state of a VectorSidecar after a reconcile, and counts the workloads that have newly
// become stuck, by reason.
func (m *Metrics) SetSidecarState(sidecar types.NamespacedName, state SidecarState) {
	for _, reason := range m.states.replaceState(sidecar, state) {
		m.conflicts.WithLabelValues(reason).Inc()
	}
}

// Forget removes a VectorSidecar that was deleted.
func (m *Metrics) Forget(sidecar types.NamespacedName) {
	m.states.remove(sidecar)
}
