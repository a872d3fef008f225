// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startWebhookServer starts a server that answers at /ask, and returns its address and a client.
func startWebhookServer(t *testing.T) (address string, client *http.Client) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	pair := certificateFor(t, "webhook")
	server := newWebhookServer(&WebhookOptions{}, nil)
	server.config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
	server.Register("/ask", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	ended := make(chan error, 1)
	go func() { ended <- server.serve(t.Context(), listener) }()
	t.Cleanup(func() { // The context has ended.
		client.CloseIdleConnections()
		require.NoError(t, <-ended)
	})
	return listener.Addr().String(), client
}

// certificateFor returns a self-signed certificate.
func certificateFor(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}
}

// post sends a request, and reports whether it reused a connection, and how long it took.
func post(t *testing.T, client *http.Client, address string) (isReused bool, took time.Duration) {
	t.Helper()
	began := time.Now()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { isReused = got.Reused }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+"/ask", http.NoBody)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	return isReused, time.Since(began)
}

// connect opens connections that stay idle: they send nothing, or half of a request.
func connect(t *testing.T, address string, number int, sendsHalf bool) {
	t.Helper()
	for range number {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		if sendsHalf {
			_, err = io.WriteString(tls.Client(conn, &tls.Config{InsecureSkipVerify: true}), "POST /ask HTTP/1.1\r\nHost: a\r\n")
			require.NoError(t, err)
		}
	}
}

// A client opens as many connections as the server accepts, and does not use them. Requests on connections that the API
// server already has are answered. New connections wait until the unused ones time out.
func TestWebhookServer_ServesOpenConnections(t *testing.T) {
	t.Parallel()
	for name, sendsHalf := range map[string]bool{"that send nothing": false, "that send half of a request": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, client := startWebhookServer(t)
			post(t, client, address)

			connect(t, address, maxConnections-1, sendsHalf)

			isReused, took := post(t, client, address)
			require.True(t, isReused, "its connection is open")
			t.Logf("an open connection answered after %s", took)
			client.CloseIdleConnections()
			connect(t, address, 1, false)
			isReused, took = post(t, client, address)
			require.False(t, isReused)
			t.Logf("a new connection answered after %s", took)
			require.Less(t, took, 2*headerTimeout)
		})
	}
}

// Connections above the limit wait until others time out. If an attacker opens 256 more, a new connection of the API
// server waits five seconds longer.
func TestWebhookServer_LimitsConnections(t *testing.T) {
	t.Parallel()
	address, client := startWebhookServer(t)
	connect(t, address, 2*maxConnections, false)

	_, took := post(t, client, address)

	t.Logf("a new connection answered after %s", took)
	require.Greater(t, took, 3*headerTimeout/2, "it waits for both rounds")
	require.Less(t, took, 3*headerTimeout)
}
