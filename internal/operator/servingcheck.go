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

	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/internal/admission"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// routing is the time that it takes until calls through the Service reach a pod after the kubelet has found the pod
// ready.
const routing = 3 * time.Second

// servingCheck checks whether this process can answer calls of the API server, and whether these calls reach it.
type servingCheck struct {
	// hasRead returns an error if the operator has not yet read the objects that an answer needs.
	hasRead func() error
	// served is the certificate of the webhook, and address the address on which it listens.
	served  *admission.ServedCertificate
	address string
	// isProbed is true if the kubelet probes readiness, so that no calls arrive before the pod is
	// ready.
	isProbed bool

	// listens is true after the first connection to the webhook. The webhook then listens until the process ends.
	listens atomic.Bool
	// readySince is the time when the readiness probe first succeeded.
	readySince atomic.Pointer[time.Time]
}

// checkServing is the readiness check of the webhook. It returns an error if the process cannot answer a call.
func (a *servingCheck) checkServing(request *http.Request) error {
	if err := a.checkAnswer(request.Context()); err != nil {
		return err
	}
	now := time.Now()
	a.readySince.CompareAndSwap(nil, &now)
	return nil
}

// hasAnswered reports whether calls through the Service reach this process.
func (a *servingCheck) hasAnswered() bool {
	if !a.isProbed {
		return a.checkAnswer(context.Background()) == nil
	}
	ready := a.readySince.Load()
	return ready != nil && time.Since(*ready) > routing
}

// checkAnswer returns an error if the process cannot answer a call. It checks for a certificate before it connects,
// because the server would log a failed TLS handshake.
func (a *servingCheck) checkAnswer(ctx context.Context) error {
	_, err := a.served.Get(nil)
	if err := cmp.Or(a.hasRead(), err); err != nil || a.listens.Load() {
		return err
	}
	dialer := tls.Dialer{Config: &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // It connects to itself.
		// With TLS 1.2 the server completes the handshake before the client, so closing the
		// connection does not interrupt it.
		MaxVersion: tls.VersionTLS12,
	}}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	connection, err := dialer.DialContext(ctx, "tcp", a.address)
	if err != nil {
		return fmt.Errorf("the admission webhook is not listening: %w", err)
	}
	_ = connection.Close() // The connection alone is sufficient.
	a.listens.Store(true)  // The server listens until the process ends.
	return nil
}

// countingHandler counts the responses of a handler.
type countingHandler struct {
	ctrladmission.Handler

	counted *telemetry.Metrics
}

// Handle implements ctrladmission.Handler.
func (c countingHandler) Handle(ctx context.Context, request ctrladmission.Request) ctrladmission.Response {
	start := time.Now()
	response := c.Handler.Handle(ctx, request)
	c.counted.RecordAdmission(admissionResult(&response), time.Since(start))
	return response
}

// admissionResult returns the metric label of a response.
func admissionResult(response *ctrladmission.Response) string {
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
