// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // The sink of type vector compresses.

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// collectors start a stand-in for what a preset sends to, and return its HOST:PORT.
var collectors = map[string]func(t *testing.T) string{
	"http": overHTTP, "loki": overHTTP, "elasticsearch": overHTTP, "aws_s3": overHTTP, "vector": overGRPC, "kafka": kafka, "splunk_hec_logs": overHTTP,
	"console": func(*testing.T) string { return "" },
}

// sinks are what a person writes below sidecar.sinks for each preset.
func sinkOf(preset, address string) map[string]any {
	url := "http://" + address
	sink := map[string]map[string]any{
		"http":            {"uri": url},
		"loki":            {"endpoint": url},
		"elasticsearch":   {"endpoints": []any{url}, "bulk": map[string]any{"index": "logs"}},
		"aws_s3":          {"endpoint": url, "bucket": "logs", "region": "eu-central-1", "batch": map[string]any{"timeout_secs": 5}},
		"vector":          {"address": address},
		"kafka":           {"bootstrap_servers": address, "topic": "logs"},
		"splunk_hec_logs": {"endpoint": url, "default_token": "token"},
		"console":         {"encoding": map[string]any{"codec": "text"}},
	}[preset]
	sink["type"] = preset
	return map[string]any{sinkName: sink}
}

const sinkName = "out"

// overHTTP takes all, and answers as the kinds of sinks want it.
func overHTTP(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		switch {
		case strings.HasSuffix(request.URL.Path, "/_bulk"):
			_, _ = io.WriteString(w, `{"took":1,"errors":false,"items":[]}`)
		case request.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"version":{"number":"8.0.0"}}`)
		case strings.HasSuffix(request.URL.Path, "/push"):
			w.WriteHeader(http.StatusNoContent)
		case request.Method == http.MethodPut:
			w.Header().Set("ETag", `"1"`)
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// bytesCodec passes messages on as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }

func (bytesCodec) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}

// overGRPC answers every call with an empty message, which is success.
func overGRPC(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.MaxRecvMsgSize(64<<20), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		var message, answer []byte
		if err := stream.RecvMsg(&message); err != nil {
			return err
		}
		// Vector compresses, and reads nothing that is.
		if err := grpc.SetSendCompressor(stream.Context(), "identity"); err != nil {
			return err
		}
		return stream.SendMsg(&answer)
	}))
	go func() { _ = server.Serve(listener) }() // Ends with Stop.
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// kafka is a broker in a process of its own.
func kafka(t *testing.T) string {
	root, err := harness.Root()
	require.NoError(t, err)
	broker := exec.Command(filepath.Join(root, "bin", "kafka"), "logs")
	stdin, err := broker.StdinPipe()
	require.NoError(t, err)
	stdout, err := broker.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, broker.Start(), "make bin/kafka builds it")
	t.Cleanup(func() {
		_ = stdin.Close() // With which it ends.
		_ = broker.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}
