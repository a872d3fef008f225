// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// debug is the level of logr that is DEBUG.
const debug = 1

// errorFilter tells in other words what libraries log as errors and is none. It works
// around controller-runtime, to whose manager a lease that is given up after a
// signal comes back as an error, and around client-go, whose elector calls it an
// error that another one was faster. What is broken off is so because the process
// is to stop: nothing else in it cancels work.
type errorFilter struct{ logr.LogSink }

// harmlessCause are the words for an error that is none, "" for one that is.
func harmlessCause(err error, message string) string {
	switch {
	case err == nil:
	case message == "error received after stop sequence was engaged" && err.Error() == "leader election lost":
		return "lease released"
	case message == "Failed to update lease" && apierrors.IsConflict(err),
		message == "Error initially creating lease lock" && apierrors.IsAlreadyExists(err):
		return "another operator was faster"
	case errors.Is(err, context.Canceled):
		return "broken off by the stop"
	}
	return ""
}

// Error logs an error, or at INFO what is none. What cannot be made in a namespace that is
// being deleted, such as an event on each of its workloads, is DEBUG.
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

// WithValues keeps the wrapper around a logger with values.
func (s errorFilter) WithValues(keysAndValues ...any) logr.LogSink {
	return errorFilter{s.LogSink.WithValues(keysAndValues...)}
}

// WithName keeps the wrapper around a logger with a name.
func (s errorFilter) WithName(name string) logr.LogSink { return errorFilter{s.LogSink.WithName(name)} }

// WithCallDepth keeps the wrapper around a logger of another depth.
func (s errorFilter) WithCallDepth(depth int) logr.LogSink {
	if inner, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return errorFilter{inner.WithCallDepth(depth)}
	}
	return s
}
