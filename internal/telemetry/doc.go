// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package telemetry provides the log, the metrics, the traces and the error reports of the process.
// The log has JSON lines with a level that can change at run time. The number of metrics does not
// grow with the objects in a cluster. Traces are configured by OpenTelemetry's environment
// variables. Reports of panics and terminal errors are sent to Sentry without any text that a user
// wrote.
//
// Disabled parts cost nothing. The package does not decide which events are logged, counted or
// traced, and it does not serve the metrics.
package telemetry
