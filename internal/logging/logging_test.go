// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// lines reads what was logged.
func lines(t *testing.T, text *bytes.Buffer) []map[string]any {
	t.Helper()
	var all []map[string]any
	for decoder := json.NewDecoder(text); decoder.More(); {
		var line map[string]any
		require.NoError(t, decoder.Decode(&line))
		all = append(all, line)
	}
	return all
}

func TestALineIsAnObjectWithKeysThatStay(t *testing.T) {
	var out bytes.Buffer
	log := New(&out, zapcore.InfoLevel)

	log.WithName("loop").WithValues(Namespace, "shop", Name, "logs").Info("workload written", Workload, "Deployment shop/cart", "took", time.Second)

	line := lines(t, &out)[0]
	at, err := time.Parse(time.RFC3339Nano, line["ts"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	delete(line, "ts")
	require.Equal(t, map[string]any{
		"level": "INFO", "logger": "loop", "msg": "workload written",
		"namespace": "shop", "name": "logs", "workload": "Deployment shop/cart", "took": "1s",
	}, line)
}

func TestTheLevelMayChangeWhileItRuns(t *testing.T) {
	said := func(level zapcore.Level) []string {
		var out bytes.Buffer
		atomic := zap.NewAtomicLevelAt(zapcore.ErrorLevel)
		log := New(&out, atomic).WithName("loop").WithValues(Name, "logs")
		atomic.SetLevel(level)
		log.V(1).Info("debug")
		log.Info("info")
		Warn(log, "warn")
		log.Error(errors.New("no"), "error")
		var messages []string
		for _, line := range lines(t, &out) {
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

func TestALeaseThatIsGivenUpIsNoError(t *testing.T) {
	var out bytes.Buffer
	log := New(&out, zapcore.InfoLevel).WithName("manager").WithCallDepth(1)
	lost := errors.New("leader election lost")

	log.Error(lost, stopping)
	log.Error(errors.New("another"), stopping)
	log.Error(lost, "running the operator")

	said := lines(t, &out)
	require.Equal(t, "INFO", said[0]["level"])
	require.Equal(t, "lease released", said[0]["msg"])
	require.NotContains(t, said[0], "error")
	require.Equal(t, "ERROR", said[1]["level"], "whatever else goes wrong while it stops")
	require.Equal(t, "ERROR", said[2]["level"], "a lease that was taken from it")
}

func TestAWarningIsNotLostOnAnotherLogger(t *testing.T) {
	require.NotPanics(t, func() { Warn(logr.Discard(), "warn") })
}
