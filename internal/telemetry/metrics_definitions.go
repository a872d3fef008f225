// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

// MetricDefinition is the definition of a metric, for its export and its documentation.
type MetricDefinition struct {
	// Name is the full name; Kind is "counter", "gauge" or "histogram".
	Name, Kind string
	// Help is a sentence.
	Help string
	// Labels have few values each. No value is a name that a user chose.
	Labels []MetricLabel
}

// labels returns the names of the labels.
func (d MetricDefinition) labels() []string {
	var names []string
	for _, label := range d.Labels {
		names = append(names, label.Name)
	}
	return names
}

// MetricLabel is a label with a description of its values.
type MetricLabel struct{ Name, Values string }

// Names of the operator's own metrics.
const (
	reconciles      = "vectorsidecar_reconciles_total"
	duration        = "vectorsidecar_step_duration_seconds"
	renders         = "vectorsidecar_renders_total"
	workloads       = "vectorsidecar_workloads"
	objects         = "vectorsidecar_objects"
	namespaces      = "vectorsidecar_cluster_namespaces"
	oldestWaiting   = "vectorsidecar_oldest_waiting_workload_seconds"
	rolloutSlots    = "vectorsidecar_rollout_slots"
	waveSidecars    = "vectorsidecar_rollout_wave"
	halted          = "vectorsidecar_rollout_halted"
	writesStopped   = "vectorsidecar_writes_stopped"
	required        = "vectorsidecar_required_objects"
	declaredObjects = "vectorsidecar_declared_objects"
	writes          = "vectorsidecar_workload_writes_total"
	preflights      = "vectorsidecar_preflights_total"
	conflicts       = "vectorsidecar_conflicts_total"
	repairs         = "vectorsidecar_drift_corrections_total"
	leftover        = "vectorsidecar_leftovers"
	cleaned         = "vectorsidecar_leftovers_removed_total"
	judgedAnew      = "vectorsidecar_resyncs_total"
	templateSets    = "vectorsidecar_template_sets"
	cached          = "vectorsidecar_cached_objects"
	admissions      = "vectorsidecar_admission_requests_total"
	judging         = "vectorsidecar_admission_duration_seconds"
	validSince      = "vectorsidecar_admission_certificate_not_before_timestamp_seconds"
	validUntil      = "vectorsidecar_admission_certificate_not_after_timestamp_seconds"
	droppedEvents   = "vectorsidecar_events_dropped_total"
	buildInfo       = "vectorsidecar_build_info"
)

// MetricDefinitions returns the operator's own metrics. docs/reference/metrics.md is generated from
// them.
func MetricDefinitions() []MetricDefinition {
	return []MetricDefinition{
		{reconciles, "counter", "Reconciles of a VectorSidecar.", []MetricLabel{
			{"result", "`unchanged`: no workload was written; `changed`: at least one workload was written; `stalled`: a user must act first; `failed`: the reconcile is retried"}}},
		{duration, "histogram", "Duration of a reconcile and of its steps.", []MetricLabel{
			{"step", "`reconcile`: the whole reconcile; its steps: `observe`, `plan`, `render`, `check` of a Vector configuration, `preflight`, `apply` to one workload, and `status`"}}},
		{renders, "counter", "Executions of the templates. A cached result is not counted.", []MetricLabel{
			{"result", "`ok` or `invalid`"}}},
		{workloads, "gauge", "Workloads that a VectorSidecar matches or that have its sidecar. A workload that two VectorSidecars match counts twice.", []MetricLabel{
			{"kind", "a workload kind"},
			{"state", "`Updated`, `RollingOut`, `Soaking`, `Unavailable`, `PodsBlocked`, `Removing`, `Waiting`, `PodsOutdated`, `WithoutPods`, `Deferred`, `Conflict`, `Blocked`, `Skipped`, `Failed` or `Rejected`, as in `status.workloads`"},
			{"reason", "a condition reason, or empty"}}},
		{objects, "gauge", "VectorSidecars and ClusterVectorSidecars by condition Ready.", []MetricLabel{
			{"ready", "`True` or `False`"}, {"reason", "a condition reason"}}},
		{namespaces, "gauge", "Namespaces of ClusterVectorSidecars by condition Ready there. A namespace counts once for each ClusterVectorSidecar that selects it.", []MetricLabel{
			{"ready", "`True` or `False`"}, {"reason", "a condition reason"}}},
		{oldestWaiting, "gauge", "Longest time that a workload has been waiting for a rollout slot since this process started; 0 if no workload waits. Workloads that wait for a window or an earlier wave do not count.", nil},
		{waveSidecars, "gauge", "VectorSidecars of each wave (`rollout.waves`), by their progress with the installation's current templates and values.", []MetricLabel{
			{"wave", "the wave's name in `rollout.waves`, or `default`"},
			{"state", "`waiting`: not started; `progressing`: workloads roll out; `finished`: all workloads have rolled out"},
		}},
		{halted, "gauge", "1 while the rollout of the installation's current templates and values is halted, because workloads failed with them (`rollout.halt`).", nil},
		{writesStopped, "gauge", "1 while the annotation `stop-writes` of the installation's ConfigMap of values, or its value `writes`, stops all writes except removals.", nil},
		{required, "gauge", "Objects of the installation chart that the operator depends on (`--required-objects`), by the state that the leader has read.", []MetricLabel{
			{"state", "`present`; `missing`; `not_served`: the API server does not have the kind; `not_read`: the request failed or was denied"}}},
		{declaredObjects, "gauge", "VectorSidecars and ClusterVectorSidecars that the installation's values declare (`vectorSidecars`), or that they no longer declare and that still exist, as seen by the leader.", []MetricLabel{
			{"state", "`Applied`; `Pending`: not written yet; `WaitingForNamespace`; `WaitingForRemoval`; `Conflict`; `Invalid`; `NotDeleted`: kept because no object of the kind is declared; `WritesStopped`; `Uninstalling`; or `Retrying`"}}},
		{rolloutSlots, "gauge", "Rollout slots across all VectorSidecars (`rollout.maxConcurrent` of the installation's values).", []MetricLabel{
			{"class", "`injection` or `removal`; each class has this number of slots"},
			{"state", "`limit`: number of slots, 0 for no limit; `used`: workloads that roll out or soak; `waiting`: workloads that wait for a slot"}}},
		{writes, "counter", "Attempts to write a workload.", []MetricLabel{
			{"kind", "a workload kind"},
			{"action", "`Inject`, `Update`, `Adopt` (the API server has injected the sidecar), `Remove` or `RecordOnly` (only the operator's annotations change)"},
			{"result", "`ok`, `conflict`, `rejected`, `gone` (the workload was deleted), `stale` (the workload had changed since it was read) or `error`"}}},
		{preflights, "counter", "Sidecars with dry runs before the first write, once for each form of pods in a namespace (`preflight.enabled`).", []MetricLabel{
			{"result", "`passed`; `rejected`: because of the sidecar; `rejected_without_sidecar`: also rejected without the sidecar; `inconclusive`: the dry runs had no result, and the sidecar was written"}}},
		{conflicts, "counter", "Workloads that entered the state Conflict, Blocked or Rejected.", []MetricLabel{
			{"reason", "a condition reason"}}},
		{repairs, "counter", "Writes that restored sidecars that another client had changed or removed.", nil},
		{leftover, "gauge", "Leftover sidecars and annotations of sidecars, in workloads whose VectorSidecar does not exist.", []MetricLabel{
			{"action", "`Clean`: the operator removes the sidecar; `Report`: a user must decide; `Keep`: `deletionPolicy` is `Orphan`"}}},
		{cleaned, "counter", "Sidecars that the operator removed because their VectorSidecar did not exist.", nil},
		{droppedEvents, "counter", "Kubernetes events that the operator dropped because 1,000 events were waiting. The namespace with the most waiting events loses its events first.", nil},
		{judgedAnew, "counter", "VectorSidecars evaluated from scratch, without cached results: each about every `--reconcile-interval`, and on request.", []MetricLabel{
			{"result", "`same`: nothing was written, and no request was sent; `different`: the operator wrote an object"}}},
		{templateSets, "gauge", "Template sets by validity. The last known good version of an invalid template set stays in use.", []MetricLabel{
			{"state", "`valid` or `invalid`"}}},
		{cached, "gauge", "Objects in the informer cache.", []MetricLabel{
			{"kind", "`VectorSidecar`, `ConfigMap`, `Namespace` or a workload kind"}}},
		{admissions, "counter", "Responses of the admission webhook, if it is enabled.", []MetricLabel{
			{"result", "`allowed`; `denied`: the VectorSidecar is invalid; `undecided`: the operator could not decide; `unreadable`: the object was not a VectorSidecar; `rejected`: the object was not evaluated, because it was too large or the webhook had too many requests"}}},
		{judging, "histogram", "Duration of a response of the admission webhook.", nil},
		{validSince, "gauge", "Start of the validity of the certificate that the admission webhook serves.", nil},
		{validUntil, "gauge", "End of the validity of the certificate that the admission webhook serves.", nil},
		{buildInfo, "gauge", "1, with the version of the operator.", []MetricLabel{
			{"version", "the operator's version"}}},
	}
}

// LibraryMetrics returns the most useful metrics that the libraries in the process register themselves.
func LibraryMetrics() []MetricDefinition {
	return []MetricDefinition{
		{"controller_runtime_reconcile_panics_total", "counter", "Reconciles that panicked. Each is retried.", []MetricLabel{{"controller", "`vectorsidecar`"}}},
		{"controller_runtime_active_workers", "gauge", "Reconciles in progress.", []MetricLabel{{"controller", "`vectorsidecar`"}}},
		{"controller_runtime_max_concurrent_reconciles", "gauge", "Maximum number of reconciles in progress.", []MetricLabel{{"controller", "`vectorsidecar`"}}},
		{"workqueue_depth", "gauge", "VectorSidecars that wait to be reconciled.", []MetricLabel{{"name", "`vectorsidecar`"}, {"controller", "the same"}, {"priority", "a number"}}},
		{"workqueue_queue_duration_seconds", "histogram", "Time that VectorSidecars waited to be reconciled.", []MetricLabel{{"name", "`vectorsidecar`"}, {"controller", "the same"}}},
		{"workqueue_retries_total", "counter", "Reconciles that are retried.", []MetricLabel{{"name", "`vectorsidecar`"}, {"controller", "the same"}}},
		{"leader_election_master_status", "gauge", "1 in the leader, 0 in standby replicas.", []MetricLabel{{"name", "the name of the lease"}}},
		{"rest_client_requests_total", "counter", "Requests to the API server.", []MetricLabel{{"code", "the HTTP status"}, {"method", "the HTTP method"}, {"host", "the API server"}}},
		{"process_resident_memory_bytes", "gauge", "Memory of the process.", nil},
		{"process_cpu_seconds_total", "counter", "CPU time of the process.", nil},
	}
}
