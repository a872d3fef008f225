// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhook is another injector. It listens on the loopback address and adds a container to the Deployments of a
// namespace.
func webhook(t *testing.T, namespace string) {
	t.Helper()
	served := httptest.NewTLSServer(http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
		var review admissionv1.AdmissionReview
		if json.NewDecoder(request.Body).Decode(&review) != nil || review.Request == nil {
			http.Error(to, "no review", http.StatusBadRequest)
			return
		}
		kind := admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: true, PatchType: &kind,
			Patch: []byte(`[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "hooked", "image": "hooked:1"}}]`),
		}
		review.Request = nil
		_ = json.NewEncoder(to).Encode(review) // The API server may have gone.
	}))
	t.Cleanup(served.Close)
	fail, none := registrationv1.Fail, registrationv1.SideEffectClassNone
	made := &registrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "hooked-" + namespace}, Webhooks: []registrationv1.MutatingWebhook{{
		Name: "hooked.example.com", AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail, SideEffects: &none,
		ClientConfig:      registrationv1.WebhookClientConfig{URL: &served.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: served.Certificate().Raw})},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		Rules: []registrationv1.RuleWithOperations{{
			Operations: []registrationv1.OperationType{registrationv1.Create},
			Rule:       registrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
		}},
	}}}
	world.Create(t, made)
	t.Cleanup(func() { _ = world.Client.Delete(context.WithoutCancel(t.Context()), made) })
}
