// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	admissionapply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// certificateState is the state that determines the next step of the CertificateKeeper. It depends only on the
// cluster, so that each replica can continue the work of another replica.
type certificateState string

const (
	// absent means that the Secret does not exist.
	absent certificateState = "absent"
	// unauthorized means that the Secret does not contain a usable CA.
	unauthorized certificateState = "unauthorized"
	// untrusted means that the webhook is registered, but its CA bundle does not contain the CA.
	untrusted certificateState = "untrusted"
	// unsigned means that the certificate must be issued, because the CA did not sign it or because it is due
	// for renewal.
	unsigned certificateState = "unsigned"
	// unregistered means that the certificate is valid but the webhook is not registered.
	unregistered certificateState = "unregistered"
	// upToDate means that no step is needed.
	upToDate certificateState = "upToDate"
)

// clusterState contains the objects of the cluster that determine the certificateState.
type clusterState struct {
	// secret is the Secret with the certificate. It has no resource version if it does not exist.
	secret *corev1.Secret
	// configuration is the existing ValidatingWebhookConfiguration. webhook is the webhook that must be
	// registered in it. Both are nil if the configuration does not exist.
	configuration *admissionv1.ValidatingWebhookConfiguration
	webhook       *admissionapply.ValidatingWebhookApplyConfiguration
}

// desiredWebhook parses the annotation of a configuration that defines the webhook to register.
func desiredWebhook(configuration *admissionv1.ValidatingWebhookConfiguration) (*admissionapply.ValidatingWebhookApplyConfiguration, error) {
	webhook := &admissionapply.ValidatingWebhookApplyConfiguration{}
	decoder := json.NewDecoder(strings.NewReader(configuration.Annotations[meta.AnnotationWebhook]))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(webhook)
	if err == nil && (webhook.Name == nil || webhook.ClientConfig == nil) {
		err = errors.New("the webhook has no name or no clientConfig")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the webhook from annotation %s of ValidatingWebhookConfiguration %s: %w; upgrade the installation", meta.AnnotationWebhook, configuration.Name, err)
	}
	return webhook, nil
}

// registeredWebhook returns the webhook in the configuration, or nil if it is not registered.
func (s *clusterState) registeredWebhook() *admissionv1.ValidatingWebhook {
	if s.configuration == nil {
		return nil
	}
	for i := range s.configuration.Webhooks {
		if s.configuration.Webhooks[i].Name == ptr.Deref(s.webhook.Name, "") {
			return &s.configuration.Webhooks[i]
		}
	}
	return nil
}

// certificateState determines the state of the certificate from the objects.
func (s *clusterState) certificateState(issuer *authority) certificateState {
	registered := s.registeredWebhook()
	switch {
	case s.secret.ResourceVersion == "":
		return absent
	case !issuer.hasAuthority(s.secret.Data):
		return unauthorized
	case registered != nil && !bytes.Contains(registered.ClientConfig.CABundle, s.secret.Data[keyAuthority]):
		return untrusted
	case !issuer.isValid(s.secret.Data):
		return unsigned
	case registered == nil:
		return unregistered
	}
	return upToDate
}
