// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import "github.com/go-logr/logr"

// orderly tells an orderly stop in its own words. It works around the manager of
// controller-runtime: the lease that it gives up after a signal comes back to it as
// the error "leader election lost", which it logs as one.
type orderly struct{ logr.LogSink }

// stopping is the manager's message for errors that come after the signal.
const stopping = "error received after stop sequence was engaged"

// Error logs an error, except the one that is none.
func (o orderly) Error(err error, message string, keysAndValues ...any) {
	if message == stopping && err != nil && err.Error() == "leader election lost" {
		o.Info(0, "lease released", keysAndValues...)
		return
	}
	o.LogSink.Error(err, message, keysAndValues...)
}

// WithValues keeps the wrapper around a logger with values.
func (o orderly) WithValues(keysAndValues ...any) logr.LogSink {
	return orderly{o.LogSink.WithValues(keysAndValues...)}
}

// WithName keeps the wrapper around a logger with a name.
func (o orderly) WithName(name string) logr.LogSink { return orderly{o.LogSink.WithName(name)} }

// WithCallDepth keeps the wrapper around a logger of another depth.
func (o orderly) WithCallDepth(depth int) logr.LogSink {
	if inner, ok := o.LogSink.(logr.CallDepthLogSink); ok {
		return orderly{inner.WithCallDepth(depth)}
	}
	return o
}
