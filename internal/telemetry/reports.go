// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/getsentry/sentry-go"
)

// repeatInterval is the time for which the same terminal error is not reported again.
const repeatInterval = time.Hour

// Reporter sends reports to Sentry.
type Reporter struct {
	client *sentry.Client
	now    func() time.Time

	mu       sync.Mutex
	reported map[string]time.Time
}

// NewNoopReporter returns a Reporter that sends nothing.
func NewNoopReporter() *Reporter {
	return &Reporter{client: sentry.NewNoopClient(), now: time.Now, reported: map[string]time.Time{}}
}

// NewReporter returns a Reporter for the Sentry of SENTRY_DSN. It sends nothing if that is unset.
// SENTRY_ENVIRONMENT is the environment of the reports.
func NewReporter(version string, now func() time.Time) (*Reporter, error) {
	dsn := os.Getenv("SENTRY_DSN")
	if dsn == "" {
		return NewNoopReporter(), nil
	}
	client, err := sentry.NewClient(sentry.ClientOptions{
		Dsn: dsn, Release: "vector-sidecar-operator@" + version,
		Environment:  os.Getenv("SENTRY_ENVIRONMENT"),
		BeforeSend:   filterEvent,
		Integrations: func([]sentry.Integration) []sentry.Integration { return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("SENTRY_DSN: %w", err)
	}
	return &Reporter{client: client, now: now, reported: map[string]time.Time{}}, nil
}

// IsEnabled reports whether the Reporter sends reports.
func (r *Reporter) IsEnabled() bool { return r.client.IsEnabled() }

// ReportPanic reports a panic, from the deferred function that recovered the value.
func (r *Reporter) ReportPanic(value any) {
	event := sentry.NewEvent()
	event.Level = sentry.LevelFatal
	event.Exception = []sentry.Exception{{Type: fmt.Sprintf("%T", value), Value: describeType(value), Stacktrace: sentry.NewStacktrace()}}
	r.client.CaptureEvent(event, nil, nil)
}

// ReportTerminal reports an error that retries will not fix. The report contains only the reason, which package meta
// declares. The same reason is reported once per hour.
func (r *Reporter) ReportTerminal(reason string) {
	if !r.isDue(reason) {
		return
	}
	event := sentry.NewEvent()
	event.Level = sentry.LevelError
	event.Message = "terminal error: " + reason
	event.Fingerprint = []string{"terminal", reason}
	event.Tags = map[string]string{"reason": reason}
	r.client.CaptureEvent(event, nil, nil)
}

// isDue reports whether a reason was not reported within repeatInterval, and records the report.
func (r *Reporter) isDue(reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	lastReport, ok := r.reported[reason]
	if ok && r.now().Sub(lastReport) < repeatInterval {
		return false
	}
	r.reported[reason] = r.now()
	return true
}

// Flush waits until all reports are sent or the timeout is over.
func (r *Reporter) Flush(timeout time.Duration) { r.client.Flush(timeout) }

// describeType returns the part of a panic's value that may be reported. Go's runtime errors contain
// only types and indexes. Any other value may contain text that a user wrote.
func describeType(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return ""
}

// filterEvent keeps only the fields of an event that this package sets. The client adds the host name,
// and a later version may add more.
func filterEvent(event *sentry.Event, _ *sentry.EventHint) *sentry.Event {
	return &sentry.Event{
		EventID: event.EventID, Timestamp: event.Timestamp, Platform: event.Platform, Sdk: event.Sdk,
		Release: event.Release, Environment: event.Environment, Level: event.Level,
		Message: event.Message, Fingerprint: event.Fingerprint, Tags: event.Tags, Exception: event.Exception,
	}
}
