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

	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kontroloop.ai/vector-sidecar-operator/internal/admission"
)

// webhookServer serves the admission webhook as controller-runtime's server does, but limits
// the number of connections, which that server cannot.
type webhookServer struct {
	webhook.Server

	address     string
	config      *tls.Config
	connections *connections
}

func newWebhookServer(w *WebhookOptions, served *admission.ServedCertificate, from *callers) *webhookServer {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: served.Get,
		// As for the metrics server.
		NextProtos: []string{"http/1.1"},
	}
	if w.ClientCA != "" {
		config.ClientAuth = tls.RequestClientCert // The certificate is verified by callers.
	}
	return &webhookServer{
		Server: webhook.NewServer(webhook.Options{}), address: w.BindAddress, config: config,
		connections: newConnections(maxConnections, func(state *tls.ConnectionState) bool { return from.proves(&http.Request{TLS: state}) }),
	}
}

// Start listens and serves until the context ends.
func (s *webhookServer) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("listening for the admission webhook: %w", err)
	}
	return s.serve(ctx, listener)
}

func (s *webhookServer) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s.WebhookMux(), ConnState: s.connections.note,
		BaseContext:    func(net.Listener) context.Context { return ctx },
		MaxHeaderBytes: 1 << 20, IdleTimeout: 90 * time.Second, ReadHeaderTimeout: 32 * time.Second, // As in controller-runtime.
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), gracePeriod)
		defer cancel()
		stopped <- server.Shutdown(ending)
	})
	if err := server.Serve(tls.NewListener(listener, s.config)); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serving the admission webhook: %w", err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("closing the connections of the admission webhook: %w", err)
	}
	return nil
}
