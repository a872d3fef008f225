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
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// crowdedServer is a webhook server that accepts few connections.
type crowdedServer struct {
	*webhookServer

	address string
	// client presents an API server's certificate.
	client *http.Client
}

const places = 8

func newCrowdedServer(t *testing.T) *crowdedServer {
	t.Helper()
	pair, authority := certificateFor(t, "kube-apiserver")
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, authority, 0o600))
	from, err := newCallers(file, nil)
	require.NoError(t, err)
	go func() { _ = from.Start(t.Context()) }()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &crowdedServer{address: listener.Addr().String(), client: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}},
	}}}
	b.webhookServer = newWebhookServer(&WebhookOptions{ClientCA: file}, nil, from)
	b.config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
	b.connections.limit = places
	b.Register("/ask", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ended := make(chan error, 1)
	go func() { ended <- b.serve(t.Context(), listener) }()
	t.Cleanup(func() { // The context has ended.
		b.client.CloseIdleConnections()
		require.NoError(t, <-ended)
	})
	return b
}

// certificateFor returns a self-signed certificate, and its PEM.
func certificateFor(t *testing.T, name string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

// ask sends a request as the API server, and reports whether it reused a connection.
func (b *crowdedServer) ask(t *testing.T) (isReused bool) {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { isReused = got.Reused }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+b.address+"/ask", http.NoBody)
	require.NoError(t, err)
	response, err := b.client.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	return isReused
}

// connect opens connections of unverified clients, each of which first sends something.
func (b *crowdedServer) connect(t *testing.T, number int, say func(net.Conn)) []net.Conn {
	t.Helper()
	var all []net.Conn
	for range number {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		say(conn)
		all = append(all, conn)
	}
	return all
}

func silently(net.Conn) {}

// halfway sends half a request of an unverified client.
func halfway(conn net.Conn) {
	encrypted := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	_, _ = io.WriteString(encrypted, "POST /ask HTTP/1.1\r\nHost: a\r\n") // It may be closed already.
}

func (b *crowdedServer) holds() int {
	b.connections.mu.Lock()
	defer b.connections.mu.Unlock()
	return len(b.connections.held)
}

// requireClosed waits until the server has closed a connection.
func requireClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := io.Copy(io.Discard, conn)
	var late net.Error
	require.False(t, errors.As(err, &late) && late.Timeout(), "it was left open")
}

func TestConnectionsOfStrangersAreBoundedAndKeepTheAPIServerNotOut(t *testing.T) {
	for name, say := range map[string]func(net.Conn){"who say nothing": silently, "who begin a request": halfway} {
		t.Run(name, func(t *testing.T) {
			b := newCrowdedServer(t)
			require.False(t, b.ask(t))

			strangers := b.connect(t, 3*places, say)

			requireClosed(t, strangers[0])
			require.LessOrEqual(t, b.holds(), places)
			require.True(t, b.ask(t), "its connection is there")
			b.client.CloseIdleConnections()
			require.False(t, b.ask(t), "a new one takes the place of a stranger's")
			require.LessOrEqual(t, b.holds(), places)
		})
	}
}

func TestConnectionsAreForgottenWhenTheyEnd(t *testing.T) {
	b := newCrowdedServer(t)
	for _, conn := range b.connect(t, places, silently) {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return b.holds() == 0 }, time.Minute, time.Millisecond)
}

func TestConnectionsGoInAnOrder(t *testing.T) {
	old, young := &connection{opened: 1}, &connection{opened: 2}
	oldAsking, youngAsking := &connection{opened: 1, isAsking: true}, &connection{opened: 2, isAsking: true}
	oldProven, youngProven := &connection{opened: 1, isProven: true}, &connection{opened: 2, isProven: true}
	for name, test := range map[string]struct{ goes, stays *connection }{
		"the oldest that asks nothing":        {old, young},
		"one that asks nothing":               {young, oldAsking},
		"the oldest that asks":                {oldAsking, youngAsking},
		"one that asks before the API server": {youngAsking, oldProven},
		"of the API server's the youngest":    {youngProven, oldProven},
	} {
		t.Run(name, func(t *testing.T) {
			require.Negative(t, test.goes.compare(test.stays))
			require.Positive(t, test.stays.compare(test.goes))
		})
	}
}
