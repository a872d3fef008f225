// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

// MetricDefinition is one metric as it is exported and documented.
type MetricDefinition struct {
	// Name is the whole name, Kind "counter", "gauge" or "histogram".
	Name, Kind string
	// Help is a sentence.
	Help string
	// Labels are few, and each has few values: none is a name that a user gave.
	Labels []MetricLabel
}

// MetricLabel is a label and what its values are.
type MetricLabel struct{ Name, Values string }

// Names of the operator's own metrics.
const (
	reconciles    = "vectorsidecar_reconciles_total"
	duration      = "vectorsidecar_step_duration_seconds"
	renders       = "vectorsidecar_renders_total"
	workloads     = "vectorsidecar_workloads"
	objects       = "vectorsidecar_objects"
	oldestWaiting = "vectorsidecar_oldest_waiting_workload_seconds"
	writes        = "vectorsidecar_workload_writes_total"
	conflicts     = "vectorsidecar_conflicts_total"
	repairs       = "vectorsidecar_drift_repairs_total"
	leftover      = "vectorsidecar_leftovers"
	cleaned       = "vectorsidecar_leftovers_removed_total"
	judgedAnew    = "vectorsidecar_judged_anew_total"
	liveLists     = "vectorsidecar_live_lists_total"
	differences   = "vectorsidecar_cache_differences_total"
	templateSets  = "vectorsidecar_template_sets"
	cached        = "vectorsidecar_cached_objects"
	admissions    = "vectorsidecar_admission_requests_total"
	judging       = "vectorsidecar_admission_duration_seconds"
	validSince    = "vectorsidecar_admission_certificate_not_before_timestamp_seconds"
	validUntil    = "vectorsidecar_admission_certificate_not_after_timestamp_seconds"
	buildInfo     = "vectorsidecar_build_info"
)

// MetricDefinitions are the operator's own metrics. docs/metrics.md is made from them.
func MetricDefinitions() []MetricDefinition {
	return []MetricDefinition{
		{reconciles, "counter", "Passes over a VectorSidecar.", []MetricLabel{
			{"result", "`unchanged`: nothing was written to any workload; `changed`: something was; `stalled`: a person has to do something first; `failed`: it is tried again"}}},
		{duration, "histogram", "Duration of a pass and of its steps.", []MetricLabel{
			{"step", "`reconcile`, the whole pass, and within it `observe`, `plan`, `render`, `check` of a Vector configuration, `apply` to one workload, and `tell`"}}},
		{renders, "counter", "Executions of the templates. A rendering that is remembered is none.", []MetricLabel{
			{"result", "`ok` or `invalid`"}}},
		{workloads, "gauge", "Workloads that a VectorSidecar matches or that carry its sidecar. One that two VectorSidecars match counts twice.", []MetricLabel{
			{"state", "`Updated`, `RollingOut`, `Soaking`, `Unavailable`, `Hindered`, `Removing`, `Waiting`, `Conflict`, `Blocked`, `Skipped`, `Failed` or `Refused`, as in `status.unsettled`"},
			{"reason", "a condition reason, or nothing"}}},
		{objects, "gauge", "VectorSidecars by the condition Ready.", []MetricLabel{
			{"ready", "`True` or `False`"}, {"reason", "a condition reason"}}},
		{oldestWaiting, "gauge", "For how long the workload that has waited longest has been waiting for its turn, as seen by this process; 0 if none waits.", nil},
		{writes, "counter", "Attempts to write to a workload.", []MetricLabel{
			{"action", "`Inject`, `Update`, `Remove` or `Note` (it is only written down what was asked for)"},
			{"result", "`ok`, `conflict`, `refused`, `gone`, `stale` (it had changed meanwhile) or `error`"}}},
		{conflicts, "counter", "Workloads that came to be in conflict, blocked or refused.", []MetricLabel{
			{"reason", "a condition reason"}}},
		{repairs, "counter", "Writes that put back what somebody else had changed or taken out.", nil},
		{leftover, "gauge", "Sidecars, and records of them, in workloads for VectorSidecars that do not exist.", []MetricLabel{
			{"verdict", "`Clean`: the operator takes it out; `Report`: a person has to judge; `Keep`: left by `deletionPolicy: Orphan`"}}},
		{cleaned, "counter", "Sidecars that the operator took out because their VectorSidecar did not exist.", nil},
		{judgedAnew, "counter", "VectorSidecars judged with nothing remembered, from the cache alone: each about every `--reconcile-interval`, and those for which somebody asks.", []MetricLabel{
			{"result", "`same`: nothing was to be written, and nothing was asked of the API server; `different`: something was"}}},
		{liveLists, "counter", "Comparisons of the cache with the workloads as the API server has them: about every `--live-list-interval`, and when somebody asks.", []MetricLabel{
			{"result", "`same`, `different` or `failed`"}}},
		{differences, "counter", "Workloads that the cache held otherwise than the API server, though no watch was behind. The cache was listed anew.", nil},
		{templateSets, "gauge", "Sets of templates. For a broken one, the last good one stays in use.", []MetricLabel{
			{"state", "`good` or `broken`"}}},
		{cached, "gauge", "Objects in the cache that all of the operator reads from.", []MetricLabel{
			{"kind", "`VectorSidecar`, `ConfigMap`, `Namespace` or a kind of workloads"}}},
		{admissions, "counter", "Answers of the admission webhook, where there is one.", []MetricLabel{
			{"result", "`allowed`; `refused`: the VectorSidecar is at fault; `undecided`: the operator could not decide; `unreadable`: it was no VectorSidecar; `rejected`: it was not looked at, because it was too large or there were too many"}}},
		{judging, "histogram", "Duration of an answer of the admission webhook.", nil},
		{validSince, "gauge", "Since when the certificate that the admission webhook serves is valid.", nil},
		{validUntil, "gauge", "Until when the certificate that the admission webhook serves is valid.", nil},
		{buildInfo, "gauge", "1, with the version of the operator.", []MetricLabel{
			{"version", "the operator's version"}}},
	}
}

// LibraryMetrics are metrics of the libraries in the process that are worth knowing;
// there are more of them.
func LibraryMetrics() []MetricDefinition {
	return []MetricDefinition{
		{"controller_runtime_reconcile_panics_total", "counter", "Passes that ended in a panic. Each is tried again.", []MetricLabel{{"controller", "`vectorsidecar`"}}},
		{"controller_runtime_active_workers", "gauge", "Passes that go on at this moment.", []MetricLabel{{"controller", "`vectorsidecar`"}}},
		{"controller_runtime_max_concurrent_reconciles", "gauge", "How many may.", []MetricLabel{{"controller", "`vectorsidecar`"}}},
		{"workqueue_depth", "gauge", "VectorSidecars that wait for a pass.", []MetricLabel{{"name", "`vectorsidecar`"}, {"controller", "the same"}, {"priority", "a number"}}},
		{"workqueue_queue_duration_seconds", "histogram", "How long they waited.", []MetricLabel{{"name", "`vectorsidecar`"}, {"controller", "the same"}}},
		{"workqueue_retries_total", "counter", "Passes that are to be tried again.", []MetricLabel{{"name", "`vectorsidecar`"}, {"controller", "the same"}}},
		{"leader_election_master_status", "gauge", "1 in the process that leads, 0 in those that stand by.", []MetricLabel{{"name", "the name of the lease"}}},
		{"rest_client_requests_total", "counter", "Requests to the API server.", []MetricLabel{{"code", "the HTTP status"}, {"method", "the HTTP method"}, {"host", "the API server"}}},
		{"process_resident_memory_bytes", "gauge", "Memory of the process.", nil},
		{"process_cpu_seconds_total", "counter", "CPU time of the process.", nil},
	}
}
