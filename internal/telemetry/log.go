// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"io"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// Log keys. They are stable, because users search for them.
const (
	// KeyController is the controller's name.
	KeyController = "controller"
	// KeyNamespace is the namespace of the VectorSidecar.
	KeyNamespace = "namespace"
	// KeyName is the name of the VectorSidecar.
	KeyName = "name"
	// KeyWorkload is the workload that was written, such as "Deployment shop/cart".
	KeyWorkload = "workload"
	// KeyKind is a kind of workloads that the cluster may lack.
	KeyKind = "kind"
	// KeyEnvironment is the environment that provided the values.
	KeyEnvironment = "environment"
	// KeyHash is the hash of the sidecar, as in the annotation injected-hash.
	KeyHash = "hash"
	// KeyChangeCause is the reason why the workload was written.
	KeyChangeCause = "changeCause"
	// KeyReconcileID is the same in all lines of one reconcile.
	KeyReconcileID = "reconcileID"
	// KeyTraceID is the trace ID of the reconcile, if it is traced.
	KeyTraceID = "traceID"
)

// LogFormat is the format of the log, and the value of a flag.
type LogFormat string

// The formats. FormatJSON is one object per line, FormatText is time, level, logger, message and the keys as JSON.
const (
	FormatJSON LogFormat = "json"
	// FormatText writes the time, the level, the logger and the message as text, and then the keys as JSON.
	FormatText LogFormat = "text"
)

// String returns the name of the format.
func (f *LogFormat) String() string { return string(*f) }

// Set parses the name of a format.
func (f *LogFormat) Set(name string) error {
	if format := LogFormat(strings.ToLower(name)); format == FormatJSON || format == FormatText {
		*f = format
		return nil
	}
	return errors.New("the log format must be json or text")
}

// NewLogger returns a logger that writes lines of the given level and above to writer. V(1) and
// higher are DEBUG. Control characters are escaped, so that no line can affect a terminal.
func NewLogger(writer io.Writer, level zapcore.LevelEnabler, format LogFormat) logr.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	config.EncodeLevel = zapcore.CapitalLevelEncoder
	encoder, escaped := zapcore.NewJSONEncoder(config), humanize.NewJSONWriter(writer)
	if format == FormatText {
		encoder, escaped = zapcore.NewConsoleEncoder(config), humanize.NewBlockWriter(writer)
	}
	return zapr.NewLogger(zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(escaped)), level)))
}

// LineWriter returns a writer for code that logs plain text, such as the standard library's log
// package. Each write becomes a line at INFO.
func LineWriter(log logr.Logger) io.Writer { return lineWriter{log} }

// lineWriter logs each write at INFO.
type lineWriter struct{ log logr.Logger }

// Write logs the text.
func (l lineWriter) Write(text []byte) (int, error) {
	l.log.Info("log output of a library", "text", strings.TrimSpace(string(text)))
	return len(text), nil
}

// Warn logs at WARN, which logr does not have. WARN is for an event that needs attention but is not
// an error of the operator.
func Warn(log logr.Logger, message string, keysAndValues ...any) {
	if sink, ok := log.GetSink().(zapr.Underlier); ok {
		sink.GetUnderlying().Sugar().Warnw(message, keysAndValues...)
		return
	}
	log.Info(message, keysAndValues...)
}

// ControllerLogger returns the logger of the reconciles of all controllers, which users search by one name.
func ControllerLogger(base logr.Logger) logr.Logger {
	return base.WithValues(KeyController, "vectorsidecar")
}
