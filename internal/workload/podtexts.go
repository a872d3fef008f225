// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"
)

// textDomains are the domains of pod annotations with values that a View contains. Node agents, such as Vector,
// Fluent Bit and the Datadog Agent, read them for the containers of a pod. The Cluster Autoscaler reads them
// for the pod's volumes. The values are short and seldom change.
var textDomains = []string{"vector.dev", "fluentbit.io", "ad.datadoghq.com", "cluster-autoscaler.kubernetes.io"}

// podTexts returns the annotations with a domain in textDomains and a value, or nil for none.
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
