// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// The API of Vector listens on the loopback address, so other pods cannot tap events.
func TestVector_RestrictsAPIToLoopback(t *testing.T) {
	url, _ := collector(t, false)
	r := start(t, vectorsidecar.FS, url, 20)
	r.feed(t)
	require.Eventually(t, func() bool { return r.taps(t, "127.0.0.1") }, time.Minute, 10*time.Millisecond, "as through kubectl port-forward")
	require.False(t, r.taps(t, podIP))
	_, err := net.Dial("tcp", net.JoinHostPort(podIP, strconv.Itoa(r.api)))
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	answer, err := http.Get("http://" + net.JoinHostPort(podIP, strconv.Itoa(r.metrics)) + "/metrics")
	require.NoError(t, err)
	defer answer.Body.Close()
	shown, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(shown), "vector_build_info")
	require.NotContains(t, string(shown), secret)
}

func TestVector_FailsLivenessProbeIfHanging(t *testing.T) {
	url, _ := collector(t, false)
	r := start(t, vectorsidecar.FS, url, 20)
	r.signal(t, syscall.SIGSTOP)
	require.False(t, r.isAlive(t), "it takes the connection, and never answers")
	r.signal(t, syscall.SIGCONT)
	require.Eventually(t, func() bool { return r.isAlive(t) }, time.Minute, 100*time.Millisecond)
}

// The collector does not answer. Vector still passes its liveness probe, because a restart would not help.
func TestVector_PassesProbeWithHangingCollector(t *testing.T) {
	url, reached := collector(t, true)
	r := start(t, vectorsidecar.FS, url, 20)
	r.feed(t)
	await(t, reached, "an event to reach the collector")
	require.True(t, r.isAlive(t))
}

// The kubelet probes a container also while it terminates. Vector exits before its probe fails: when the collector has
// all events, or the time has passed.
func TestVector_StopsWithoutFailedProbe(t *testing.T) {
	const limit = 8
	url, reached := collector(t, true)
	r := start(t, vectorsidecar.FS, url, limit)
	r.feed(t)
	await(t, reached, "an event to reach the collector")
	told := time.Now()
	r.signal(t, syscall.SIGTERM)
	var silent time.Time
	for isEnded := false; !isEnded; {
		if !r.isAlive(t) && silent.IsZero() {
			silent = time.Now()
		}
		select {
		case <-r.ended:
			isEnded = true
		case <-time.After(50 * time.Millisecond):
			require.Less(t, time.Since(told), 5*limit*time.Second, "it ends")
		}
	}
	t.Logf("answered for %s more, and ended after %s", silent.Sub(told).Round(time.Millisecond), time.Since(told).Round(time.Millisecond))
	probe := r.container.LivenessProbe
	patience := time.Duration((probe.FailureThreshold-1)*probe.PeriodSeconds) * time.Second
	require.Less(t, time.Since(silent), patience, "the kubelet waits at least that long from the first time that nobody answers")
}
