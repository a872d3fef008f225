// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"io"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// Keys of what a line is about. They do not change: people search by them.
const (
	// KeyController is the name of the loop.
	KeyController = "controller"
	// KeyNamespace is the VectorSidecar's.
	KeyNamespace = "namespace"
	// KeyName is the VectorSidecar's.
	KeyName = "name"
	// KeyWorkload is the workload that was written to, such as "Deployment shop/cart".
	KeyWorkload = "workload"
	// KeyEnvironment is the one whose values were used.
	KeyEnvironment = "environment"
	// KeyHash tells which sidecar: that of the annotation injected-hash.
	KeyHash = "hash"
	// KeyChangeCause says why it was written to.
	KeyChangeCause = "changeCause"
	// KeyReconcileID is the same in all lines of one pass.
	KeyReconcileID = "reconcileID"
	// KeyTraceID is that of the pass, if it is traced.
	KeyTraceID = "traceID"
)

// NewLogger returns a logger that writes to out what is at the level or above it. Lines
// of V(1) and more are DEBUG. Nothing in a line steers the terminal that shows it.
func NewLogger(out io.Writer, level zapcore.LevelEnabler) logr.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	config.EncodeLevel = zapcore.CapitalLevelEncoder
	core := zapcore.NewCore(zapcore.NewJSONEncoder(config), zapcore.Lock(zapcore.AddSync(humanize.JSONLines(out))), level)
	return logr.New(errorFilter{zapr.NewLogger(zap.New(core)).GetSink()})
}

// LineWriter returns a writer for what writes text and knows no logger, such as the
// standard library's own log: each write becomes a line at INFO.
func LineWriter(log logr.Logger) io.Writer { return lineWriter{log} }

type lineWriter struct{ log logr.Logger }

// Write logs the text.
func (l lineWriter) Write(text []byte) (int, error) {
	l.log.Info("said by a library", "text", strings.TrimSpace(string(text)))
	return len(text), nil
}

// Warn writes a line at WARN, which logr does not have: something that a person
// should see to, and that is not the operator's failure.
func Warn(log logr.Logger, message string, keysAndValues ...any) {
	if sink, ok := log.GetSink().(errorFilter); ok {
		if zapSink, ok := sink.LogSink.(zapr.Underlier); ok {
			zapSink.GetUnderlying().Sugar().Warnw(message, keysAndValues...)
			return
		}
	}
	log.Info(message, keysAndValues...)
}
