// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
)

// mark is the name of a metric that the operator always serves. Another server sent a response without it.
const mark = "vectorsidecar_build_info"

// maxResponse is the limit for the size of a response, in bytes.
const maxResponse = 16 << 20

// checkAnonymousRejected checks that metrics are not served to unauthenticated clients.
func checkAnonymousRejected(ctx context.Context, url string) error {
	status, _, err := getURL(ctx, insecureTransport(), url)
	if err == nil && status != http.StatusUnauthorized {
		err = fmt.Errorf("URL %s responds with status %d, but must respond with 401 without a token", url, status)
	}
	return err
}

// checkMetricsServed checks that metrics are served to this account.
func checkMetricsServed(ctx context.Context, config *rest.Config, url string) error {
	tokenConfig := rest.AnonymousClientConfig(config)
	tokenConfig.BearerToken, tokenConfig.BearerTokenFile = config.BearerToken, config.BearerTokenFile
	signed, err := rest.HTTPWrappersForConfig(tokenConfig, insecureTransport())
	if err != nil {
		return err
	}
	status, text, err := getURL(ctx, signed, url)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("URL %s responds with status %d, but must respond with 200 for this account", url, status)
	case !strings.Contains(text, mark):
		return fmt.Errorf("URL %s has no metric %s: another server responds at this address", url, mark)
	}
	return nil
}

// getURL returns the status code and the body of a GET request, up to maxResponse bytes.
func getURL(ctx context.Context, transport http.RoundTripper, url string) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	return response.StatusCode, string(body), err
}

// insecureTransport returns a transport that does not verify the server's certificate, because each replica signs its own
// certificate unless one is configured.
func insecureTransport() http.RoundTripper {
	return &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // The certificate is self-signed.
		DisableKeepAlives: true,
	}
}
