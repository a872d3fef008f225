// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	admissionapply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Certificate writes the data of a Secret, as it was read or, without a resource
// version, one that is not there. Its labels stay others'.
func (w *Writer) Certificate(ctx context.Context, secret *corev1.Secret) error {
	body := coreapply.Secret(secret.Name, secret.Namespace).WithData(secret.Data)
	if secret.ResourceVersion != "" {
		body.WithUID(secret.UID).WithResourceVersion(secret.ResourceVersion)
	}
	if err := w.client.Apply(ctx, body, client.FieldOwner(meta.Operator), client.ForceOwnership); err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}

// Bundle writes the certificates by which the API server knows the webhooks of a
// configuration. All else of it stays others', so that helm finds it as it left it.
func (w *Writer) Bundle(ctx context.Context, configuration *admissionv1.ValidatingWebhookConfiguration, bundle []byte) error {
	body := admissionapply.ValidatingWebhookConfiguration(configuration.Name).WithUID(configuration.UID)
	for i := range configuration.Webhooks {
		body.WithWebhooks(admissionapply.ValidatingWebhook().WithName(configuration.Webhooks[i].Name).
			WithClientConfig(admissionapply.WebhookClientConfig().WithCABundle(bundle...)))
	}
	if err := w.client.Apply(ctx, body, client.FieldOwner(meta.Operator), client.ForceOwnership); err != nil {
		return fmt.Errorf("writing ValidatingWebhookConfiguration %s: %w", configuration.Name, err)
	}
	return nil
}
