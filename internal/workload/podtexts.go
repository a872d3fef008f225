// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"
)

// textDomains are the domains of pod annotations with values that a View contains. Agents on the nodes, such as
// Vector, Fluent Bit and the Datadog Agent, read them for the containers of a pod, and the Cluster Autoscaler
// for its volumes. The values are short and seldom change.
var textDomains = []string{"vector.dev", "fluentbit.io", "ad.datadoghq.com", "cluster-autoscaler.kubernetes.io"}

// podTexts returns the annotations of these domains with a value, or nil for none.
func podTexts(annotations map[string]string) map[string]string {
	var result map[string]string
	for key, value := range annotations {
		domain, _, hasDomain := strings.Cut(key, "/")
		if value == "" || !hasDomain || !slices.Contains(textDomains, domain) {
			continue
		}
		if result == nil {
			result = map[string]string{}
		}
		result[key] = value
	}
	return result
}

// keysAndTexts returns annotations with only the values of these domains.
func keysAndTexts(annotations map[string]string) map[string]string {
	result := keysOnly(maps.Keys(annotations))
	maps.Copy(result, podTexts(annotations))
	return result
}
