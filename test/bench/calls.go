// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// calls counts requests by verb and resource, such as "APPLY deployments".
type calls map[string]int

// counted lists the resources that the operator uses. Requests for other resources are the API server's.
var counted = []string{"deployments", "replicasets", "configmaps", "vectorsidecars", "events", "namespaces"}

// readCalls returns the API server's count of requests so far. Watches are not included, because they are counted
// when they end.
func readCalls(ctx context.Context, client kubernetes.Interface) (calls, error) {
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	found := calls{}
	for line := range strings.Lines(string(text)) {
		series, isCount := strings.CutPrefix(line, "apiserver_request_total{")
		if !isCount {
			continue
		}
		labels, value, _ := strings.Cut(series, "} ")
		verb, resource, sub := label(labels, "verb"), label(labels, "resource"), label(labels, "subresource")
		if verb == "WATCH" || !slices.Contains(counted, resource) {
			continue
		}
		if sub != "" {
			resource += "/" + sub
		}
		count, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return nil, fmt.Errorf("reading the API server's metrics: %w", err)
		}
		found[verb+" "+resource] += int(count)
	}
	return found, nil
}

// label returns the value of one label of a series.
func label(series, name string) string {
	_, rest, _ := strings.Cut(","+series, ","+name+"=\"")
	value, _, _ := strings.Cut(rest, "\"")
	return value
}

// since returns the calls after an earlier count.
func (c calls) since(before calls) calls {
	made := calls{}
	for key, count := range c {
		if count > before[key] {
			made[key] = count - before[key]
		}
	}
	return made
}

// isRead reports whether a key of calls is a read.
func isRead(key string) bool {
	verb, _, _ := strings.Cut(key, " ")
	return verb == "GET" || verb == "LIST"
}

func (c calls) total() int {
	sum := 0
	for _, count := range c {
		sum += count
	}
	return sum
}

// String lists the calls, the most frequent first.
func (c calls) String() string {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		if c[a] != c[b] {
			return c[b] - c[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("%d %s", c[key], key))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
