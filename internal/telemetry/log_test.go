// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"kontroloop.ai/vector-sidecar-operator/test/hostile"
)

// read parses what was logged.
func read(t *testing.T, text *bytes.Buffer) []map[string]any {
	t.Helper()
	var all []map[string]any
	for decoder := json.NewDecoder(text); decoder.More(); {
		var line map[string]any
		require.NoError(t, decoder.Decode(&line))
		all = append(all, line)
	}
	return all
}

func TestNewLogger_WritesJSONWithStableKeys(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, zapcore.InfoLevel, FormatJSON)

	log.WithName("loop").WithValues(KeyNamespace, "shop", KeyName, "logs").Info("wrote workload", KeyWorkload, "Deployment shop/cart", "took", time.Second)

	line := read(t, &out)[0]
	at, err := time.Parse(time.RFC3339Nano, line["ts"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	delete(line, "ts")
	require.Equal(t, map[string]any{
		"level": "INFO", "logger": "loop", "msg": "wrote workload",
		"namespace": "shop", "name": "logs", "workload": "Deployment shop/cart", "took": "1s",
	}, line)
}

func TestNewLogger_FollowsLevelChanges(t *testing.T) {
	said := func(level zapcore.Level) []string {
		var out bytes.Buffer
		atomic := zap.NewAtomicLevelAt(zapcore.ErrorLevel)
		log := NewLogger(&out, atomic, FormatJSON).WithName("loop").WithValues(KeyName, "logs")
		atomic.SetLevel(level)
		log.V(1).Info("debug")
		log.Info("info")
		Warn(log, "warn")
		log.Error(errors.New("no"), "error")
		var messages []string
		for _, line := range read(t, &out) {
			messages = append(messages, line["msg"].(string))
			require.Equal(t, "logs", line["name"])
		}
		return messages
	}
	require.Equal(t, []string{"debug", "info", "warn", "error"}, said(zapcore.DebugLevel))
	require.Equal(t, []string{"info", "warn", "error"}, said(zapcore.InfoLevel))
	require.Equal(t, []string{"warn", "error"}, said(zapcore.WarnLevel))
	require.Equal(t, []string{"error"}, said(zapcore.ErrorLevel))
}

// Text that another package writes line by line becomes log entries.
func TestLineWriter_WritesTextAsLogLine(t *testing.T) {
	var out bytes.Buffer

	_, err := LineWriter(NewLogger(&out, zapcore.InfoLevel, FormatJSON)).Write([]byte("http: TLS handshake error\n"))

	require.NoError(t, err)
	require.Equal(t, "http: TLS handshake error", read(t, &out)[0]["text"])
}

// Warn also writes to a logger of another implementation.
func TestWarn_AcceptsOtherLoggers(t *testing.T) {
	require.NotPanics(t, func() { Warn(logr.Discard(), "warn") })
}

func TestNewLogger_WritesTextWithKeysAsJSON(t *testing.T) {
	var out bytes.Buffer

	NewLogger(&out, zapcore.InfoLevel, FormatText).WithName("loop").WithValues(KeyName, "logs").Info("workload written", "took", time.Second)

	require.Regexp(t, `^\S+Z\tINFO\tloop\tworkload written\t\{"name": "logs", "took": "1s"\}\n$`, out.String())
}

// A message with several lines is written as one line, so that no part of it looks like another log entry.
func TestNewLogger_EscapesTextOfSeveralLines(t *testing.T) {
	for why, text := range hostile.Texts() {
		var out bytes.Buffer
		NewLogger(&out, zapcore.InfoLevel, FormatText).Error(errors.New(text), text, "cause", text)
		hostile.RequireHarmless(t, out.String(), why)
		for line := range strings.Lines(out.String()) {
			require.True(t, strings.Contains(line, "\tERROR\t") || strings.HasPrefix(line, "| "), "%s: %q", why, line)
		}
	}
}

// Control characters in text of other programs are escaped, so that they do not affect a terminal.
func TestNewLogger_EscapesControlCharacters(t *testing.T) {
	for why, text := range hostile.Texts() {
		var out bytes.Buffer
		log := NewLogger(&out, zapcore.InfoLevel, FormatJSON)
		log.Error(errors.New(text), "said", "cause", text)
		hostile.RequireHarmless(t, out.String(), why)
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")), why)
		require.Equal(t, strings.ToValidUTF8(text, "\ufffd"), strings.ToValidUTF8(read(t, &out)[0]["cause"].(string), ""), why)
	}
}
