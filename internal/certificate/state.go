// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package certificate

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

// state is how far the certificate has come. It is told by what there is in the cluster
// alone, so that each process goes on where another one has stopped.
type state string

const (
	// absent is a Secret that is not there.
	absent state = "absent"
	// unauthorized is a Secret without an authority that is of use.
	unauthorized state = "unauthorized"
	// untrusted is an authority that API servers that call do not know.
	untrusted state = "untrusted"
	// unsigned is a certificate that is not of the authority, or soon over.
	unsigned state = "unsigned"
	// uncalled is a good certificate, and no API server calls yet.
	uncalled state = "uncalled"
	// kept is all as it should be.
	kept state = "kept"
)

// scene is what there is in the cluster.
type scene struct {
	// secret has no resource version if there is none.
	secret *corev1.Secret
	// configuration is that of the webhook, and webhook what belongs in it; both are nil
	// if there is none.
	configuration *admissionv1.ValidatingWebhookConfiguration
	webhook       *admissionapply.ValidatingWebhookApplyConfiguration
}

// wanted reads the webhook that belongs in a configuration.
func wanted(configuration *admissionv1.ValidatingWebhookConfiguration) (*admissionapply.ValidatingWebhookApplyConfiguration, error) {
	webhook := &admissionapply.ValidatingWebhookApplyConfiguration{}
	decoder := json.NewDecoder(strings.NewReader(configuration.Annotations[meta.AnnotationWebhook]))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(webhook)
	if err == nil && (webhook.Name == nil || webhook.ClientConfig == nil) {
		err = errors.New("it has no name or no clientConfig")
	}
	if err != nil {
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s: annotation %s, which says what to ask the operator: %w: upgrade the installation", configuration.Name, meta.AnnotationWebhook, err)
	}
	return webhook, nil
}

// called is the webhook by which API servers call; nil if none does.
func (s *scene) called() *admissionv1.ValidatingWebhook {
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

// state tells how far the certificate has come.
func (s *scene) state(from *authority) state {
	called := s.called()
	switch {
	case s.secret.ResourceVersion == "":
		return absent
	case !from.hasAuthority(s.secret.Data):
		return unauthorized
	case called != nil && !bytes.Contains(called.ClientConfig.CABundle, s.secret.Data[keyAuthority]):
		return untrusted
	case !from.isGood(s.secret.Data):
		return unsigned
	case called == nil:
		return uncalled
	}
	return kept
}
