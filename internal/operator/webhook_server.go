// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kontroloop.ai/vector-sidecar-operator/internal/admission"
)

const (
	// maxConnections limits the connections of the admission webhook. It is higher than the number
	// of requests that may be in progress or queued. Further connections wait.
	maxConnections = 256
	// headerTimeout limits the time of a connection for the handshake, and then for the header of a
	// request. The API server does not wait longer for an answer.
	headerTimeout = 5 * time.Second
	// idleTimeout limits the time of a connection without a request, as in controller-runtime.
	idleTimeout = 90 * time.Second
)

// webhookServer serves the admission webhook as controller-runtime's server does, but also limits
// the number of connections.
type webhookServer struct {
	webhook.Server

	address string
	config  *tls.Config
}

// newWebhookServer returns the server of the admission webhook with a certificate. It requests client certificates if
// ClientCA is set.
func newWebhookServer(w *WebhookOptions, served *admission.ServedCertificate) *webhookServer {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: served.Get,
		// The same reason applies as for the metrics server.
		NextProtos: []string{"http/1.1"},
	}
	if w.ClientCA != "" {
		config.ClientAuth = tls.RequestClientCert // The certificate is verified by callers.
	}
	return &webhookServer{Server: webhook.NewServer(webhook.Options{}), address: w.BindAddress, config: config}
}

// Start listens and serves until the context ends.
func (s *webhookServer) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("listening for the admission webhook: %w", err)
	}
	return s.serve(ctx, listener)
}

// serve serves the webhook on a listener until the context is canceled. Then it waits up to gracePeriod for requests
// in progress.
func (s *webhookServer) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.WebhookMux(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTimeout,
		MaxHeaderBytes:    1 << 20, IdleTimeout: idleTimeout,
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), gracePeriod)
		defer cancel()
		stopped <- server.Shutdown(ending)
	})
	limited := tls.NewListener(netutil.LimitListener(listener, maxConnections), s.config)
	if err := server.Serve(limited); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serving the admission webhook: %w", err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("closing the connections of the admission webhook: %w", err)
	}
	return nil
}
