// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"
)

// textDomains are the domains of pod annotations whose values a View has: by them agents on
// the nodes, such as Vector, Fluent Bit and Datadog's, are told about a pod's containers, and the
// Cluster Autoscaler about its volumes; their values are short and seldom change.
var textDomains = []string{"vector.dev", "fluentbit.io", "ad.datadoghq.com", "cluster-autoscaler.kubernetes.io"}

// podTexts returns the annotations of these domains that have a value, nil if there are none.
func podTexts(annotations map[string]string) map[string]string {
	var kept map[string]string
	for key, value := range annotations {
		domain, _, hasDomain := strings.Cut(key, "/")
		if value == "" || !hasDomain || !slices.Contains(textDomains, domain) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[key] = value
	}
	return kept
}

// keysAndTexts returns annotations with the values of these domains alone.
func keysAndTexts(annotations map[string]string) map[string]string {
	kept := keysOnly(maps.Keys(annotations))
	maps.Copy(kept, podTexts(annotations))
	return kept
}
