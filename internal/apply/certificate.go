// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	admissionapply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// CreateSecret creates an empty Secret. It does not change an existing Secret.
func (w *Writer) CreateSecret(ctx context.Context, name types.NamespacedName) error {
	body := coreapply.Secret(name.Name, name.Namespace)
	if err := w.client.Apply(ctx, body, client.FieldOwner(meta.Creator)); err != nil {
		return fmt.Errorf("creating Secret %s: %w", name, err)
	}
	return nil
}

// WriteCertificate writes the data of a Secret, but not its labels. The error is ErrStale if the Secret has changed since
// it was read.
func (w *Writer) WriteCertificate(ctx context.Context, secret *corev1.Secret, data map[string][]byte) error {
	body := coreapply.Secret(secret.Name, secret.Namespace).WithUID(secret.UID).WithResourceVersion(secret.ResourceVersion).WithData(data)
	if err := w.client.Apply(ctx, body, client.FieldOwner(meta.Operator), client.ForceOwnership); err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", secret.Namespace, secret.Name, staleError(err))
	}
	return nil
}

// ApplyWebhook applies a webhook to a configuration, and returns the new resource version of the configuration. The
// operator does not own other fields of the configuration, so Helm finds them unchanged. The error is ErrStale
// if the configuration has changed since.
func (w *Writer) ApplyWebhook(ctx context.Context, into *admissionv1.ValidatingWebhookConfiguration, webhook *admissionapply.ValidatingWebhookApplyConfiguration) (version string, err error) {
	body := admissionapply.ValidatingWebhookConfiguration(into.Name).WithUID(into.UID).WithResourceVersion(into.ResourceVersion).WithWebhooks(webhook)
	if err := w.client.Apply(ctx, body, client.FieldOwner(meta.Operator), client.ForceOwnership); err != nil {
		return "", fmt.Errorf("writing ValidatingWebhookConfiguration %s: %w", into.Name, staleError(err))
	}
	return *body.ResourceVersion, nil
}
