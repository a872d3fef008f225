// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

func TestALineIsAnObjectWithKeysThatStay(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, zapcore.InfoLevel)

	log.WithName("loop").WithValues(KeyNamespace, "shop", KeyName, "logs").Info("workload written", KeyWorkload, "Deployment shop/cart", "took", time.Second)

	line := read(t, &out)[0]
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
		log := NewLogger(&out, atomic).WithName("loop").WithValues(KeyName, "logs")
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

func TestWhatIsNoErrorIsNotLoggedAsOne(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, zapcore.InfoLevel).WithName("manager").WithCallDepth(1)
	const stopping = "error received after stop sequence was engaged"
	lost := errors.New("leader election lost")
	slower := apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, "operator", errors.New("modified"))

	ending := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "cart", errors.New("the namespace is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}

	log.Error(lost, stopping)
	log.Error(errors.New("another"), stopping)
	log.Error(lost, "running the operator")
	log.Error(slower, "Failed to update lease")
	log.Error(errors.New("no answer"), "Failed to update lease")
	log.Error(apierrors.NewAlreadyExists(schema.GroupResource{Resource: "leases"}, "operator"), "Error initially creating lease lock")
	log.Error(ending, "Server rejected event (will not retry!)")
	log.Error(fmt.Errorf("put: %w", context.Canceled), "Failed to update lease")

	const ended = "Warning: watch ended with error"
	log.Info(ended, "type", "*v1.ConfigMap", "err", errors.New("decoding an event: context canceled"))
	log.Info(ended, "type", "*v1.ConfigMap", "err", errors.New("too old resource version"))

	said := read(t, &out)
	require.Len(t, said, 9, "a namespace being deleted is logged at DEBUG only")
	require.Equal(t, "INFO", said[0]["level"])
	require.Equal(t, "lease released", said[0]["msg"])
	require.NotContains(t, said[0], "error")
	require.Equal(t, "ERROR", said[1]["level"], "whatever else goes wrong while it stops")
	require.Equal(t, "ERROR", said[2]["level"], "a lease that was taken from it")
	require.Equal(t, "INFO", said[3]["level"])
	require.Equal(t, "another replica updated the lease first", said[3]["msg"])
	require.Equal(t, "ERROR", said[4]["level"])
	require.Equal(t, "another replica updated the lease first", said[5]["msg"])
	require.Equal(t, "INFO", said[6]["level"])
	require.Equal(t, "Failed to update lease", said[6]["what"])
	require.Equal(t, "canceled by shutdown", said[7]["msg"])
	require.Equal(t, "*v1.ConfigMap", said[7]["type"])
	require.Equal(t, ended, said[8]["msg"], "a watch that ends while the process goes on")
}

func TestTextBecomesALine(t *testing.T) {
	var out bytes.Buffer

	_, err := LineWriter(NewLogger(&out, zapcore.InfoLevel)).Write([]byte("http: TLS handshake error\n"))

	require.NoError(t, err)
	require.Equal(t, "http: TLS handshake error", read(t, &out)[0]["text"])
}

func TestAWarningIsNotLostOnAnotherLogger(t *testing.T) {
	require.NotPanics(t, func() { Warn(logr.Discard(), "warn") })
}

// A line is always JSON, and text from elsewhere in it cannot affect a terminal.
func TestNothingInALineSteersATerminal(t *testing.T) {
	for why, text := range hostile.Texts() {
		var out bytes.Buffer
		log := NewLogger(&out, zapcore.InfoLevel)
		log.Error(errors.New(text), "said", "cause", text)
		hostile.RequireHarmless(t, out.String(), why)
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")), why)
		require.Equal(t, strings.ToValidUTF8(text, "\ufffd"), strings.ToValidUTF8(read(t, &out)[0]["cause"].(string), ""), why)
	}
}
