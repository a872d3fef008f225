// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// server is a Sentry that records what is sent to it.
type server struct {
	mu     sync.Mutex
	bodies []string
}

func start(t *testing.T) *server {
	t.Helper()
	s := &server{}
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, string(body))
	}))
	t.Cleanup(web.Close)
	t.Setenv("SENTRY_DSN", strings.Replace(web.URL, "http://", "http://key@", 1)+"/1")
	t.Setenv("SENTRY_ENVIRONMENT", "north")
	return s
}

// reports returns the events received so far.
func (s *server) reports() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, body := range s.bodies {
		if strings.Contains(body, `"type":"event"`) {
			found = append(found, body)
		}
	}
	return found
}

// The report of a panic contains its stack, and no text that a user wrote.
func TestReporter_ReportsPanicWithoutUserData(t *testing.T) {
	s := start(t)
	reporter, err := NewReporter("1.2.3", time.Now)
	require.NoError(t, err)

	func() {
		defer func() { reporter.ReportPanic(recover()) }()
		panic(errors.New("namespace shop: password hunter2"))
	}()
	func() {
		defer func() { reporter.ReportPanic(recover()) }()
		none := make([]int, 0)
		_ = none[len(os.Args)]
	}()
	reporter.Flush(10 * time.Second)

	reports := s.reports()
	require.Len(t, reports, 2)
	require.Contains(t, reports[0], "*errors.errorString")
	require.Contains(t, reports[0], "TestReporter_ReportsPanicWithoutUserData")
	require.Contains(t, reports[0], "vector-sidecar-operator@1.2.3")
	require.Contains(t, reports[0], `"environment":"north"`)
	host, err := os.Hostname()
	require.NoError(t, err)
	for _, secret := range []string{"shop", "hunter2", `"` + host + `"`, "server_name", `"user"`, "contexts"} {
		require.NotContains(t, reports[0], secret)
	}
	require.Contains(t, reports[1], "index out of range")
}

// The report has the reason of the error. The same reason is reported again only after an hour.
func TestReporter_ReportsTerminalErrorOncePerHour(t *testing.T) {
	s := start(t)
	now := time.Unix(1000, 0)
	reporter, err := NewReporter("1.2.3", func() time.Time { return now })
	require.NoError(t, err)
	sent := func() int {
		reporter.Flush(10 * time.Second)
		return len(s.reports())
	}

	reporter.ReportTerminal("ApplyRejected")
	reporter.ReportTerminal("ApplyRejected")
	require.Equal(t, 1, sent())
	require.Contains(t, s.reports()[0], "terminal error: ApplyRejected")
	reporter.ReportTerminal("Conflict")
	require.Equal(t, 2, sent())
	now = now.Add(time.Hour)
	reporter.ReportTerminal("ApplyRejected")
	require.Equal(t, 3, sent())
}

func TestNewReporter_ReportsNothingWithoutDSN(t *testing.T) {
	t.Setenv("SENTRY_DSN", "")

	reporter, err := NewReporter("1.2.3", time.Now)

	require.NoError(t, err)
	require.False(t, reporter.IsEnabled())
	require.NotPanics(t, func() {
		reporter.ReportPanic("x")
		reporter.ReportTerminal("Conflict")
		reporter.Flush(time.Second)
	})
}

func TestNewReporter_RejectsInvalidDSN(t *testing.T) {
	t.Setenv("SENTRY_DSN", "nowhere")

	_, err := NewReporter("1.2.3", time.Now)

	require.ErrorContains(t, err, "SENTRY_DSN")
}
