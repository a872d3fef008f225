// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// debug is the logr verbosity that maps to DEBUG.
const debug = 1

// errorFilter logs at INFO what libraries log as errors although it is expected. It works
// around controller-runtime, whose manager reports the lease that it releases after a signal
// as an error, and around client-go, whose elector reports losing a race for the lease as an
// error. A canceled context always means shutdown: nothing else in the process cancels work.
type errorFilter struct{ logr.LogSink }

// harmlessCause returns a message for an error that is expected, "" for a real one.
func harmlessCause(err error, message string) string {
	switch {
	case err == nil:
	case message == "error received after stop sequence was engaged" && err.Error() == "leader election lost":
		return "lease released"
	case message == "Failed to update lease" && apierrors.IsConflict(err),
		message == "Error initially creating lease lock" && apierrors.IsAlreadyExists(err):
		return "another replica updated the lease first"
	case errors.Is(err, context.Canceled):
		return "canceled by shutdown"
	}
	return ""
}

// Error logs an error, or at INFO one that is expected. Failing to create an object in a
// namespace that is being deleted, such as an event for each of its workloads, is DEBUG.
func (s errorFilter) Error(err error, message string, keysAndValues ...any) {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		if s.Enabled(debug) {
			s.Info(debug, "the namespace is being deleted", "what", message, "cause", err.Error())
		}
		return
	}
	if words := harmlessCause(err, message); words != "" {
		s.Info(0, words, append([]any{"what", message}, keysAndValues...)...)
		return
	}
	s.LogSink.Error(err, message, keysAndValues...)
}

// Info logs at INFO what it is given, except that client-go calls it a warning there when a
// watch ends because the process does.
func (s errorFilter) Info(level int, message string, keysAndValues ...any) {
	if message == "Warning: watch ended with error" && isCanceled(keysAndValues) {
		message, keysAndValues = "canceled by shutdown", append([]any{"what", message}, keysAndValues...)
	}
	s.LogSink.Info(level, message, keysAndValues...)
}

// isCanceled reports whether one of the values is an error of a canceled context, which
// client-go passes on as a text.
func isCanceled(keysAndValues []any) bool {
	return slices.ContainsFunc(keysAndValues, func(value any) bool {
		err, isError := value.(error)
		return isError && strings.Contains(err.Error(), context.Canceled.Error())
	})
}

// WithValues keeps the filter around the derived logger.
func (s errorFilter) WithValues(keysAndValues ...any) logr.LogSink {
	return errorFilter{s.LogSink.WithValues(keysAndValues...)}
}

// WithName keeps the filter around the derived logger.
func (s errorFilter) WithName(name string) logr.LogSink { return errorFilter{s.LogSink.WithName(name)} }

// WithCallDepth keeps the filter around the derived logger.
func (s errorFilter) WithCallDepth(depth int) logr.LogSink {
	if inner, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return errorFilter{inner.WithCallDepth(depth)}
	}
	return s
}
