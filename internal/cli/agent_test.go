// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// Each request has a user agent with the name and version of the plugin, because the API server's audit log shows it.
func TestRun_SendsUserAgentWithVersion(t *testing.T) {
	var mu sync.Mutex
	agents := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		agents[request.UserAgent()] = true
		http.NotFound(w, request)
	}))
	defer server.Close()
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}

	code := Run(t.Context(), []string{"get", "-A", "--server", server.URL, "--kubeconfig", "/dev/null"}, streams, Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "1.2.3")

	require.Equal(t, exitError, code)
	require.Len(t, agents, 1)
	for agent := range agents {
		require.Regexp(t, `^kubectl-vectorsidecar/1\.2\.3 \(\w+/\w+\)$`, agent)
	}
}
