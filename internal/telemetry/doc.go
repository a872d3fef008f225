// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package telemetry makes the process observable in four ways: a log of JSON lines whose
// level can change at run time; metrics, whose number does not grow with the objects in a
// cluster; traces, configured by OpenTelemetry's environment variables; and reports of
// panics and terminal errors to Sentry, without anything that a user wrote. What is disabled
// costs nothing. It neither decides what is logged, counted or traced, nor serves the
// metrics.
package telemetry
