// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// checkInjectors finds mutating webhooks of other products. Webhooks for pods are common and harmless. A webhook for
// workloads may revert the injected sidecar.
func (d *Diagnosis) checkInjectors(ctx context.Context) Result {
	const check = "other injectors"
	type injector struct {
		name           string
		isForWorkloads bool
	}
	injectors, err := livelist.Collect(ctx, d.liveClient(), &admissionregistrationv1.MutatingWebhookConfigurationList{}, func(configuration *admissionregistrationv1.MutatingWebhookConfiguration) (injector, bool) {
		isForWorkloads := slices.ContainsFunc(workload.Kinds(), func(kind *workload.Kind) bool { return matchesResource(configuration, kind.Group, kind.Resource) })
		return injector{configuration.Name, isForWorkloads}, isForWorkloads || matchesResource(configuration, "", "pods")
	})
	if err != nil {
		return Result{check, Unknown, err.Error(), "ask someone with permission to list MutatingWebhookConfigurations"}
	}
	var ofPods, ofWorkloads []string
	for _, injector := range injectors {
		if injector.isForWorkloads {
			ofWorkloads = append(ofWorkloads, injector.name)
		} else {
			ofPods = append(ofPods, injector.name)
		}
	}
	switch {
	case len(ofWorkloads) > 0:
		return Result{
			check, Warning, "these webhooks change " + workload.Plural() + ": " + strings.Join(ofWorkloads, ", "),
			"if a VectorSidecar reports a Conflict or a CorrectionLoop, exclude the sidecar's container from these webhooks",
		}
	case len(ofPods) > 0:
		return Result{check, OK, fmt.Sprintf("webhooks %s change pods; no webhook changes %s", strings.Join(ofPods, ", "), workload.Plural()), ""}
	}
	return Result{check, OK, "none", ""}
}

// matchesResource reports whether a configuration has a webhook for a resource.
func matchesResource(configuration *admissionregistrationv1.MutatingWebhookConfiguration, group, resource string) bool {
	matches := func(list []string, name string) bool {
		return slices.Contains(list, name) || slices.Contains(list, "*")
	}
	for i := range configuration.Webhooks {
		for _, rule := range configuration.Webhooks[i].Rules {
			if matches(rule.APIGroups, group) && (matches(rule.Resources, resource) || slices.Contains(rule.Resources, "*/*")) {
				return true
			}
		}
	}
	return false
}
