// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// judge returns why a webhook rejects a pod, or the empty string to allow it.
type judge func(pod *corev1.Pod, isDryRun bool) string

// webhook registers a webhook for the pods of a namespace. It listens on the loopback address and answers with judge.
func webhook(t *testing.T, namespace string, settings func(*registrationv1.ValidatingWebhook), of judge) *registrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	served := httptest.NewTLSServer(http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
		var review admissionv1.AdmissionReview
		pod := &corev1.Pod{}
		if json.NewDecoder(request.Body).Decode(&review) != nil || json.Unmarshal(review.Request.Object.Raw, pod) != nil {
			http.Error(to, "no review of a pod", http.StatusBadRequest)
			return
		}
		why := of(pod, review.Request.DryRun != nil && *review.Request.DryRun)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: why == "", Result: &metav1.Status{Message: why}}
		review.Request = nil
		_ = json.NewEncoder(to).Encode(review) // The API server may have gone.
	}))
	t.Cleanup(served.Close)
	fail, none := registrationv1.Fail, registrationv1.SideEffectClassNone
	one := registrationv1.ValidatingWebhook{
		Name: "pods.example.com", AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail, SideEffects: &none,
		ClientConfig:      registrationv1.WebhookClientConfig{URL: &served.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: served.Certificate().Raw})},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		Rules: []registrationv1.RuleWithOperations{{
			Operations: []registrationv1.OperationType{registrationv1.Create},
			Rule:       registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
	}
	if settings != nil {
		settings(&one)
	}
	made := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "pods-" + namespace}, Webhooks: []registrationv1.ValidatingWebhook{one}}
	world.Create(t, made)
	t.Cleanup(func() { _ = world.Client.Delete(context.WithoutCancel(t.Context()), made) })
	return made
}

// awaitWebhookCalls waits until the API server calls a webhook.
func awaitWebhookCalls(t *testing.T, namespace string, calls *atomic.Int32) {
	t.Helper()
	harness.Eventually(t, "a request to the webhook", func() bool {
		trial := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "trial"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
		}
		if world.Client.Create(t.Context(), trial) == nil {
			world.Delete(t, trial)
		}
		return calls.Load() > 0
	})
}

// If a webhook rejects pods with the sidecar, the status reports its message. The pod of the dry run has the owner,
// the labels and the name prefix of a real pod.
func TestPreflight_ReportsWebhookRejection(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	var calls atomic.Int32
	var seen atomic.Pointer[corev1.Pod]
	webhook(t, namespace, nil, func(pod *corev1.Pod, isDryRun bool) string {
		calls.Add(1)
		if len(pod.Spec.InitContainers) == 0 {
			return ""
		}
		if isDryRun {
			seen.Store(pod)
		}
		return "no sidecars here"
	})
	awaitWebhookCalls(t, namespace, &calls)
	deployment, vs := cart(namespace).Build(), logs(namespace).Build()
	world.Create(t, deployment, vs)
	said := awaitRejection(t, vs)
	require.Contains(t, said, `admission webhook "pods.example.com" denied the request: no sidecars here`)
	requireUnchanged(t, deployment)
	pod := seen.Load()
	require.True(t, strings.HasPrefix(pod.Name, "cart-"), pod.Name)
	require.Equal(t, "cart", pod.Labels["app"])
	require.NotEmpty(t, pod.Labels["pod-template-hash"])
	require.Equal(t, "ReplicaSet", metav1.GetControllerOf(pod).Kind)

	requestReconcile(t, vs, "once more")
	harness.Until(t, world, vs, "the handled request", func(vs *vectorSidecar) bool { return vs.Status.LastHandledReconcileAt == "once more" })
	require.Equal(t, said, awaitRejection(t, vs), "the same text every time, so that there is one event")
}

// The API server rejects dry runs if a webhook may have side effects. The operator then injects the sidecar without a
// result, and the status has a warning. Such webhooks cannot be registered since Kubernetes 1.22, so the test writes
// one to etcd.
func TestPreflight_IgnoresWebhookWithoutDryRun(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	var calls atomic.Int32
	made := webhook(t, namespace, nil, func(*corev1.Pod, bool) string { calls.Add(1); return "" })
	awaitWebhookCalls(t, namespace, &calls)
	world.Get(t, made)
	some := registrationv1.SideEffectClassSome
	made.Webhooks[0].SideEffects = &some
	made.TypeMeta = metav1.TypeMeta{APIVersion: registrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"}
	text, err := json.Marshal(made)
	require.NoError(t, err)
	require.NoError(t, plane.Store(t.Context(), "/registry/validatingwebhookconfigurations/"+made.Name, text))
	trial := cart(namespace).Build().Spec.Template
	harness.Eventually(t, "dry runs to be unsupported", func() bool {
		return dryRunOf(t, namespace, &trial) != nil
	})
	deployment, vs := cart(namespace).Build(), logs(namespace).Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, deployment, "the sidecar", has)
	harness.Until(t, world, vs, "a warning", func(vs *vectorSidecar) bool {
		return strings.Contains(conditionOf(vs, meta.ConditionReady).Message, "does not support dry run")
	})
}

// If a webhook does not answer the dry run, the operator injects the sidecar after the webhook's timeout, and the
// status has a warning.
func TestPreflight_IgnoresHangingWebhook(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	var calls atomic.Int32
	ended := make(chan struct{})
	patience := int32(1)
	webhook(t, namespace, func(w *registrationv1.ValidatingWebhook) { w.TimeoutSeconds = &patience }, func(_ *corev1.Pod, isDryRun bool) string {
		calls.Add(1)
		if isDryRun {
			select {
			case <-ended:
			case <-time.After(harness.Patience):
			}
		}
		return ""
	})
	t.Cleanup(func() { close(ended) }) // Before the server is closed.
	awaitWebhookCalls(t, namespace, &calls)
	deployment, vs := cart(namespace).Build(), logs(namespace).Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, deployment, "the sidecar", has)
	harness.Until(t, world, vs, "a warning", func(vs *vectorSidecar) bool {
		return strings.Contains(conditionOf(vs, meta.ConditionReady).Message, "the dry run before the write was inconclusive")
	})
	tried, _ := countRequests(running, namespace, "pods")
	require.Equal(t, 1, tried)
}
