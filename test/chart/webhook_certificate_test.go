// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"context"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	webhookSecret        = fullname + "-webhook-cert"
	webhookConfiguration = namespace + "." + fullname + ".vectorsidecars"
)

// certificate returns the data of the operator's Secret, nil if it does not exist.
func certificate(t *testing.T) map[string][]byte {
	t.Helper()
	var secret corev1.Secret
	err := cluster.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: webhookSecret}, &secret)
	require.NoError(t, client.IgnoreNotFound(err))
	return secret.Data
}

// trusted returns the caBundle that the API server trusts.
func trusted(t *testing.T) []byte {
	t.Helper()
	var configuration admissionv1.ValidatingWebhookConfiguration
	require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Name: webhookConfiguration}, &configuration))
	require.Len(t, configuration.Webhooks, 1)
	return configuration.Webhooks[0].ClientConfig.CABundle
}

// whileAsked sends requests to the webhook until do returns, and at least once after that. It fails if one request
// has no answer.
func whileAsked(t *testing.T, do func()) {
	t.Helper()
	failures, asked := sendRequests(t, do)
	require.Empty(t, failures, "of %d requests", asked)
}

// sendRequests sends the same requests, and returns the errors.
func sendRequests(t *testing.T, do func()) (failures []error, asked int) {
	t.Helper()
	good := example.NewVectorSidecar("asked", "shop").Selecting("logs", "none").Build()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ended := false; !ended; asked++ {
			ended = ctx.Err() != nil
			// A request has a new connection to the webhook, or an existing one; both work.
			if err := cluster.Create(t.Context(), good.DeepCopy(), client.DryRunAll); err != nil {
				failures = append(failures, err)
			}
		}
	})
	do()
	cancel()
	asking.Wait()
	return failures, asked
}

// awaitCertificate waits until the data of the Secret meets a condition.
func awaitCertificate(t *testing.T, what string, met func(map[string][]byte) bool) map[string][]byte {
	t.Helper()
	var data map[string][]byte
	harness.Eventually(t, what, func() bool {
		data = certificate(t)
		return len(data["tls.crt"]) > 0 && met(data)
	})
	return data
}

func TestWebhook_RenewsCertificate(t *testing.T) {
	installWebhook(t, "--set", "extraArgs={--webhook-certificate-duration=12s,--webhook-shutdown-delay=1s}")
	first := certificate(t)
	require.Contains(t, string(trusted(t)), string(first["ca.crt"]))

	t.Run("in time", func(t *testing.T) {
		whileAsked(t, func() {
			later := awaitCertificate(t, "another certificate", func(data map[string][]byte) bool { return !bytes.Equal(data["tls.crt"], first["tls.crt"]) })
			require.Equal(t, string(first["ca.crt"]), string(later["ca.crt"]), "it is signed by the same authority")
		})
	})
	t.Run("with its authority, when the Secret is emptied", func(t *testing.T) {
		var renewed map[string][]byte
		whileAsked(t, func() {
			kubectl(t, "patch", "secret", webhookSecret, "-n", namespace, "--type=json", "-p", `[{"op":"remove","path":"/data"}]`)
			renewed = awaitCertificate(t, "another authority", func(data map[string][]byte) bool { return !bytes.Equal(data["ca.crt"], first["ca.crt"]) })
		})
		require.Equal(t, string(renewed["ca.crt"])+string(first["ca.crt"]), string(trusted(t)), "the authority before is trusted for some time")
	})
	t.Run("when the Secret is deleted", func(t *testing.T) {
		before := certificate(t)
		whileAsked(t, func() {
			kubectl(t, "delete", "secret", webhookSecret, "-n", namespace)
			awaitCertificate(t, "another authority", func(data map[string][]byte) bool { return !bytes.Equal(data["ca.crt"], before["ca.crt"]) })
		})
	})
	t.Run("by somebody who takes the trust away", func(t *testing.T) {
		kubectl(t, "patch", "validatingwebhookconfiguration", webhookConfiguration, "--type=json", "-p", `[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`)
		harness.Eventually(t, "the restored CA bundle", func() bool { return bytes.Contains(trusted(t), certificate(t)["ca.crt"]) })
		awaitWebhook(t)
	})
}

// The command check accepts the certificate that the webhook presents to the API server.
func TestCheck_AcceptsCertificateOfWebhook(t *testing.T) {
	installWebhook(t)
	plugin, err := plane.Bin("kubectl-vectorsidecar")
	require.NoError(t, err)

	// The command fails, because the cluster has no pods and no endpoints.
	printed, _ := exec.CommandContext(t.Context(), plugin, "check", "--kubeconfig", plane.Kubeconfig()).Output()

	require.Regexp(t, `(?m)^ok +permissions of the operator: `, string(printed))
	require.Regexp(t, `(?m)^ok +caBundle of the admission webhook: the caBundle in ValidatingWebhookConfiguration `+webhookConfiguration, string(printed))
	require.Regexp(t, `(?m)^ok +certificate of the admission webhook: the certificate in Secret `+namespace+"/"+webhookSecret, string(printed))
}

// An upgrade changes the port of the webhook. A new replica that is not the leader serves the new port with the same
// certificate.
func TestWebhook_KeepsCertificateDuringUpgrade(t *testing.T) {
	installWebhook(t)
	data, bundle := certificate(t), trusted(t)
	leader := holder(t)

	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", judging(freeport.PortForTest(t))+",commonLabels.team=platform")
	require.Equal(t, data, certificate(t), "helm leaves the Secret's data")
	require.Equal(t, string(bundle), string(trusted(t)), "helm leaves the trust")

	harness.NewStandIn(t, plane, cluster, namespace).Operator(t, fullname)
	awaitWebhook(t)
	require.Equal(t, leader, holder(t), "who answers does not lead")
	require.Equal(t, data, certificate(t))
}

// holder returns the identity of the leader.
func holder(t *testing.T) string {
	t.Helper()
	var lease coordinationv1.Lease
	require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: fullname}, &lease))
	return *lease.Spec.HolderIdentity
}

// The user provides a Secret with the certificate of the webhook.
func TestWebhook_UsesProvidedCertificate(t *testing.T) {
	i := installWebhook(t)
	data, port := certificate(t), trustedPort(t)
	provided := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": data["tls.crt"], "tls.key": data["tls.key"]}}
	provided.Namespace, provided.Name = namespace, "provided"
	world.Create(t, provided)
	t.Cleanup(func() { kubectl(t, "delete", "secret", "provided", "-n", namespace) })

	helm(t, "upgrade", release, chartDir, "-n", namespace,
		"--set", judging(int(port))+",admissionWebhook.certificate.source=secret,admissionWebhook.certificate.secretName=provided",
		"--set-string", "admissionWebhook.certificate.caBundle="+string(data["ca.crt"]))
	i.restarted(t)

	awaitWebhook(t)
	require.Empty(t, certificate(t), "the operator's own Secret went with the upgrade")
	require.Equal(t, string(data["ca.crt"]), string(trusted(t)))
}

func trustedPort(t *testing.T) int32 {
	t.Helper()
	var configuration admissionv1.ValidatingWebhookConfiguration
	require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Name: webhookConfiguration}, &configuration))
	return *configuration.Webhooks[0].ClientConfig.Service.Port
}

// For the webhook, the operator has permissions on one Secret and one webhook configuration only, by name.
func TestWebhook_LimitsPermissionsByResourceName(t *testing.T) {
	installWebhook(t)
	kube, err := kubernetes.NewForConfig(plane.Config())
	require.NoError(t, err)
	secrets, configurations := "secrets", "validatingwebhookconfigurations.admissionregistration.k8s.io"

	require.Equal(t, may{secrets: {"get", "list", "watch", "create", "patch"}}, rights(t, kube, []string{secrets}, namespace, webhookSecret))
	require.Equal(t, may{configurations: {"get", "list", "watch", "patch"}}, rights(t, kube, []string{configurations}, "", webhookConfiguration))
	for _, name := range []string{"", "another"} {
		require.Empty(t, rights(t, kube, []string{secrets}, namespace, name))
		require.Empty(t, rights(t, kube, []string{configurations}, "", name))
	}
	require.Empty(t, rights(t, kube, []string{secrets}, "shop", webhookSecret))
}
