// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// caller is a webhook configuration because of which the API server calls a webhook for VectorSidecars.
type caller struct {
	name    string
	service *admissionregistrationv1.ServiceReference
	// bundle is the CA bundle.
	bundle []byte
	// issued is true if cert-manager writes the bundle.
	issued bool
}

// refusing is the effect of a webhook that does not respond.
const refusing = "no VectorSidecar can be created or changed"

// checkWebhook checks the requirements for calls of the operator's admission webhook, if the webhook is enabled.
func (d *Diagnosis) checkWebhook(ctx context.Context, installation *source.Installation) []Result {
	const check = "admission webhook"
	callers, err := d.findCallers(ctx, installation.Namespace)
	switch {
	case err != nil:
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to list ValidatingWebhookConfigurations"}}
	case installation.Webhook == nil && len(callers) == 0:
		return nil
	case len(callers) == 0:
		return d.checkUnregistered(ctx, installation)
	}
	var results []Result
	for i := range callers {
		caller := &callers[i]
		if installation.Webhook == nil {
			results = append(results, Result{
				check, Failed, fmt.Sprintf("ValidatingWebhookConfiguration %s makes the API server call the operator, which does not respond: %s", caller.name, refusing),
				"delete the ValidatingWebhookConfiguration: kubectl delete validatingwebhookconfiguration " + caller.name,
			})
			continue
		}
		origin := newCertificateHelp(installation, caller)
		results = append(results, d.checkTrust(caller, origin), d.checkCertificate(ctx, installation, caller, origin), d.checkService(ctx, caller))
	}
	return results
}

// checkUnregistered reports a webhook that is served but not registered.
func (d *Diagnosis) checkUnregistered(ctx context.Context, installation *source.Installation) []Result {
	const check = "admission webhook"
	result := Result{check, Failed, "the operator serves the webhook, but no ValidatingWebhookConfiguration registers it", "upgrade the installation"}
	if installation.Webhook.Configuration == "" {
		return []Result{result}
	}
	unregistered := &caller{name: installation.Webhook.Configuration}
	origin := newCertificateHelp(installation, unregistered)
	result.Help = "upgrade the installation; the operator registers the webhook when it is ready: " + logCommand(installation)
	return []Result{result, d.checkCertificate(ctx, installation, unregistered, origin)}
}

// findCallers returns the configurations that make the API server call a Service of a namespace for VectorSidecars.
func (d *Diagnosis) findCallers(ctx context.Context, namespace string) ([]caller, error) {
	callerLists, err := livelist.Collect(ctx, d.liveClient(), &admissionregistrationv1.ValidatingWebhookConfigurationList{}, func(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) (callers []caller, ok bool) {
		for j := range configuration.Webhooks {
			webhook := &configuration.Webhooks[j]
			service := webhook.ClientConfig.Service
			if service == nil || service.Namespace != namespace || ptr.Deref(service.Path, "") != meta.WebhookPath || !isAboutSidecars(webhook) {
				continue
			}
			_, issued := configuration.Annotations["cert-manager.io/inject-ca-from"]
			callers = append(callers, caller{configuration.Name, service, webhook.ClientConfig.CABundle, issued})
		}
		return callers, len(callers) > 0
	})
	return slices.Concat(callerLists...), err
}

// isAboutSidecars reports whether a webhook is called for VectorSidecars.
func isAboutSidecars(webhook *admissionregistrationv1.ValidatingWebhook) bool {
	return slices.ContainsFunc(webhook.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, v1alpha1.GroupVersion.Group) && slices.Contains(rule.Resources, "vectorsidecars")
	})
}

// checkService checks whether the webhook's Service has ready endpoints.
func (d *Diagnosis) checkService(ctx context.Context, caller *caller) Result {
	const check = "Service of the admission webhook"
	key := client.ObjectKey{Namespace: caller.service.Namespace, Name: caller.service.Name}
	var service corev1.Service
	switch err := d.Cluster.Get(ctx, key, &service); {
	case apierrors.IsNotFound(err):
		return Result{check, Failed, fmt.Sprintf("Service %s not found: %s", key, refusing), "upgrade the installation"}
	case err != nil:
		return Result{check, Unknown, err.Error(), "ask someone with permission to get Services in " + key.Namespace}
	}
	type endpoints struct{ ready, total int }
	counts, err := livelist.Collect(ctx, d.liveClient(), &discoveryv1.EndpointSliceList{}, func(slice *discoveryv1.EndpointSlice) (endpoints, bool) {
		counted := endpoints{total: len(slice.Endpoints)}
		for i := range slice.Endpoints {
			if ptr.Deref(slice.Endpoints[i].Conditions.Ready, true) {
				counted.ready++
			}
		}
		return counted, true
	}, client.InNamespace(key.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: key.Name})
	if err != nil {
		return Result{check, Unknown, err.Error(), "ask someone with permission to list EndpointSlices in " + key.Namespace}
	}
	ready, total := 0, 0
	for _, counted := range counts {
		ready, total = ready+counted.ready, total+counted.total
	}
	if ready == 0 {
		return Result{
			check, Failed, fmt.Sprintf("Service %s has no ready endpoint: %s", key, refusing),
			"check the operator's pods and the selector of the Service: kubectl get endpointslices -n " + key.Namespace,
		}
	}
	return Result{check, OK, fmt.Sprintf("Service %s has %d of %d endpoints ready", key, ready, total), ""}
}
