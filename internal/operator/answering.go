// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/internal/certificate"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// routing is how long it takes, after the kubelet has found a pod ready, until calls of
// its Service reach it.
const routing = 3 * time.Second

// answering tells whether this process answers the API server, and whether the API
// server's calls reach it.
type answering struct {
	hasRead func() error
	served  *certificate.Served
	address string
	// isProbed tells that somebody asks whether the process is ready, and has no calls
	// sent to it before.
	isProbed bool

	listens atomic.Bool
	// told is when it was first said that the process answers.
	told atomic.Pointer[time.Time]
}

// probe is the readiness check.
func (a *answering) probe(request *http.Request) error {
	if err := a.answers(request.Context()); err != nil {
		return err
	}
	now := time.Now()
	a.told.CompareAndSwap(nil, &now)
	return nil
}

// isReached tells whether calls reach this process.
func (a *answering) isReached() bool {
	if !a.isProbed {
		return a.answers(context.Background()) == nil
	}
	told := a.told.Load()
	return told != nil && time.Since(*told) > routing
}

// answers returns why a call would have no answer. It looks for a certificate before it
// connects: a handshake that fails is a line in the log.
func (a *answering) answers(ctx context.Context) error {
	_, err := a.served.Get(nil)
	if err := cmp.Or(a.hasRead(), err); err != nil || a.listens.Load() {
		return err
	}
	dialer := tls.Dialer{Config: &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // it asks itself
		// Here the server is done with the handshake before the client is, so that to
		// hang up breaks nothing off.
		MaxVersion: tls.VersionTLS12,
	}}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	connection, err := dialer.DialContext(ctx, "tcp", a.address)
	if err != nil {
		return fmt.Errorf("the admission webhook does not listen: %w", err)
	}
	_ = connection.Close() // It has answered.
	a.listens.Store(true)  // Until the process ends.
	return nil
}

// counting counts what a handler answers.
type counting struct {
	admission.Handler

	counted *telemetry.Metrics
}

// Handle implements admission.Handler.
func (c counting) Handle(ctx context.Context, request admission.Request) admission.Response {
	began := time.Now()
	response := c.Handler.Handle(ctx, request)
	c.counted.Judged(resultOf(&response), time.Since(began))
	return response
}

// resultOf names an answer as metrics do.
func resultOf(response *admission.Response) string {
	switch {
	case response.Allowed:
		return telemetry.AnswerAllowed
	case response.Result == nil:
		return telemetry.AnswerUndecided
	case response.Result.Code == http.StatusUnprocessableEntity:
		return telemetry.AnswerRefused
	case response.Result.Code == http.StatusBadRequest:
		return telemetry.AnswerUnreadable
	}
	return telemetry.AnswerUndecided
}
