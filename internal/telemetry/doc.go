// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package telemetry is what the process shows of itself, by four means: a log, one JSON
// object on each line, at a level that may change while it runs; metrics, whose number
// does not grow with the objects in a cluster; traces, as OpenTelemetry's environment
// variables say; and reports of panics and terminal errors to Sentry, without anything
// that a user wrote. What is off costs nothing. What is worth a line, a count or a span is
// for others to say, and serving metrics is not its job.
package telemetry
