// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// The options describe the state that the release test expects.
func TestParseTestOptions_ReadsExpectedState(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "vector-system")

	options, err := ParseTestOptions([]string{"--watch-namespaces=shop,pay", "--lease=vso", "--timeout=5s"})

	require.NoError(t, err)
	require.Equal(t, TestOptions{Namespace: "vector-system", WatchNamespaces: []string{"shop", "pay"}, Lease: "vso", Timeout: 5 * time.Second}, options)
	_, err = ParseTestOptions([]string{"now"})
	require.ErrorContains(t, err, `unexpected argument "now"`)
}

// The metrics endpoint must reject anonymous requests, and respond to an authorized one with metrics of the operator.
func TestCheckMetricsServed_RequiresAuthorization(t *testing.T) {
	for name, test := range map[string]struct {
		stranger, known int
		text            string
		refused, served string
	}{
		"as it should be":        {stranger: 401, known: 200, text: "vectorsidecar_build_info 1"},
		"open to all":            {stranger: 200, known: 200, text: "vectorsidecar_build_info 1", refused: "responds with status 200, but must respond with 401"},
		"closed to this one":     {stranger: 401, known: 403, served: "responds with status 403, but must respond with 200"},
		"of something else":      {stranger: 401, known: 200, text: "up 1", served: "another server responds at this address"},
		"not to be had just now": {stranger: 503, known: 503, refused: "responds with status 503", served: "responds with status 503"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				status := test.stranger
				if r.Header.Get("Authorization") == "Bearer token" {
					status = test.known
				}
				w.WriteHeader(status)
				_, _ = w.Write([]byte(test.text))
			}))
			defer server.Close()
			requireSays(t, test.refused, checkAnonymousRejected(t.Context(), server.URL))
			requireSays(t, test.served, checkMetricsServed(t.Context(), &rest.Config{Host: "unused", BearerToken: "token"}, server.URL))
		})
	}
}

func requireSays(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.ErrorContains(t, err, want)
}

// The check is repeated until it succeeds. If it does not, the last error is returned.
func TestRetryUntilSuccess_ReturnsLastError(t *testing.T) {
	tries := 0
	require.NoError(t, retryUntilSuccess(t.Context(), func(context.Context) error {
		if tries++; tries < 2 {
			return errors.New("not yet")
		}
		return nil
	}))

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := retryUntilSuccess(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("nobody holds the Lease")
	})
	require.ErrorContains(t, err, "nobody holds the Lease")
}
