// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package logging makes the process's logger: one JSON object on each line, with
// keys that stay the same, at a level that may change while it runs. What is
// worth a line is for others to say.
package logging

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
	// Controller is the name of the loop.
	Controller = "controller"
	// Namespace is the VectorSidecar's.
	Namespace = "namespace"
	// Name is the VectorSidecar's.
	Name = "name"
	// Workload is the workload that was written to, such as "Deployment shop/cart".
	Workload = "workload"
	// Environment is the one whose values were used.
	Environment = "environment"
	// Hash tells which sidecar: that of the annotation injected-hash.
	Hash = "hash"
	// ChangeCause says why it was written to.
	ChangeCause = "changeCause"
	// ReconcileID is the same in all lines of one pass.
	ReconcileID = "reconcileID"
	// TraceID is that of the pass, if it is traced.
	TraceID = "traceID"
)

// New returns a logger that writes to out what is at the level or above it. Lines
// of V(1) and more are DEBUG. Nothing in a line steers the terminal that shows it.
func New(out io.Writer, level zapcore.LevelEnabler) logr.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	config.EncodeLevel = zapcore.CapitalLevelEncoder
	core := zapcore.NewCore(zapcore.NewJSONEncoder(config), zapcore.Lock(zapcore.AddSync(humanize.JSONLines(out))), level)
	return logr.New(sober{zapr.NewLogger(zap.New(core)).GetSink()})
}

// Lines returns a writer for what writes text and knows no logger, such as the
// standard library's own log: each write becomes a line at INFO.
func Lines(log logr.Logger) io.Writer { return lines{log} }

type lines struct{ log logr.Logger }

// Write logs the text.
func (l lines) Write(text []byte) (int, error) {
	l.log.Info("said by a library", "text", strings.TrimSpace(string(text)))
	return len(text), nil
}

// Warn writes a line at WARN, which logr does not have: something that a person
// should see to, and that is not the operator's failure.
func Warn(log logr.Logger, message string, keysAndValues ...any) {
	if sink, ok := log.GetSink().(sober); ok {
		if zapSink, ok := sink.LogSink.(zapr.Underlier); ok {
			zapSink.GetUnderlying().Sugar().Warnw(message, keysAndValues...)
			return
		}
	}
	log.Info(message, keysAndValues...)
}
