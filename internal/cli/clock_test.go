// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
)

// The plugin decides by the API server's time, like the operator, although the clock of this machine differs.
func TestApp_UsesTimeOfAPIServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"gitVersion":"v1.35.0"}`) // The client reports an incomplete response.
	}))
	defer server.Close()
	a := newApp(genericiooptions.NewTestIOStreamsDiscard(), Builtin{}, "test")
	a.kube.APIServer = &server.URL
	config, err := a.restConfig()
	require.NoError(t, err)
	kube, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = kube.Discovery().ServerVersion()
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(time.Hour), a.clock.Now(), 10*time.Second)
}
