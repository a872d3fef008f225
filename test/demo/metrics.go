// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// reader reads the operator's metrics as Prometheus does: over HTTPS, with the token of a ServiceAccount that has
// the permission.
type reader struct {
	url, token string
	client     *http.Client
}

func newReader(address, token string) *reader {
	return &reader{url: "https://" + address + "/metrics", token: token, client: &http.Client{
		Timeout: 5 * time.Second,
		// The operator uses a self-signed certificate, on the loopback here.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // see above
	}}
}

func (r *reader) read(ctx context.Context) (metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return "", fmt.Errorf("asking for the operator's metrics: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := r.client.Do(request)
	if err != nil {
		return "", fmt.Errorf("asking for the operator's metrics: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("reading the operator's metrics: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return "", mismatch{"metrics of the operator", "200 OK for a ServiceAccount with the chart's role", response.Status}
	}
	return metrics(text), nil
}

// metrics is text in Prometheus's format.
type metrics string

// sum adds the samples of a metric that have all of the labels, each written as
// name="value".
func (m metrics) sum(name string, labels ...string) float64 {
	total := 0.0
	for line := range strings.Lines(string(m)) {
		series, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if !found || !strings.HasPrefix(series, name+"{") || !hasAll(series, labels) {
			continue
		}
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			total += number
		}
	}
	return total
}

func hasAll(series string, labels []string) bool {
	for _, label := range labels {
		if !strings.Contains(series, label) {
			return false
		}
	}
	return true
}

// settled reports whether the operator is the leader, has reconciled, and has an empty queue.
func (m metrics) settled() finding {
	leads, passes := m.sum("leader_election_master_status") > 0, m.sum("controller_runtime_reconcile_total")
	todo := m.sum("workqueue_depth") + m.sum("controller_runtime_active_workers")
	return finding{
		done:  leads && passes > 0 && todo == 0,
		state: fmt.Sprintf("leader: %t, passes: %.0f, still to do: %.0f", leads, passes, todo),
	}
}

// writes counts the operator's requests that change workloads, ConfigMaps or
// VectorSidecars: all of them are patches or deletions.
func (m metrics) writes() int {
	return int(m.sum("rest_client_requests_total", `method="PATCH"`) + m.sum("rest_client_requests_total", `method="DELETE"`))
}

func (m metrics) reads() int { return int(m.sum("rest_client_requests_total", `method="GET"`)) }
