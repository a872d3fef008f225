// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// callerName is the name in the API server's client certificate.
const callerName = "kube-apiserver"

// writeClient writes a client certificate into a folder, and the configuration with which an API server presents it
// to every webhook: client.crt, client.key, kubeconfig.yaml and admission.yaml.
func writeClient(folder string) error {
	certificate, key, err := harness.Certify(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: callerName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return err
	}
	path := func(name string) string { return filepath.Join(folder, name) }
	return errors.Join(
		os.WriteFile(path("client.crt"), certificate, 0o600), os.WriteFile(path("client.key"), key, 0o600),
		os.WriteFile(path("kubeconfig.yaml"), fmt.Appendf(nil, `apiVersion: v1
kind: Config
users:
  - name: "*"
    user: {client-certificate: %s, client-key: %s}
`, path("client.crt"), path("client.key")), 0o600),
		os.WriteFile(path("admission.yaml"), fmt.Appendf(nil, `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: ValidatingAdmissionWebhook
    configuration:
      apiVersion: apiserver.config.k8s.io/v1
      kind: WebhookAdmissionConfiguration
      kubeConfigFile: %s
`, path("kubeconfig.yaml")), 0o600),
	)
}

// Messages of the webhook may quote ConfigMaps. The API server gets them with quotes, for the author of the
// VectorSidecar, and other clients get them without.
func TestWebhook_QuotesConfigMapsToAPIServerOnly(t *testing.T) {
	i := installWebhook(t, "--set", "policy.overrides.namespaces={sidecar.logLevel}")
	port := trustedPort(t)
	world.Create(t, example.NewConfigMap("vectorsidecar-defaults", "shop", "values.yaml", "sidecar: {s3cret: 1}"))
	t.Cleanup(func() { kubectl(t, "delete", "configmap", "vectorsidecar-defaults", "-n", "shop") })
	awaitSaid := func(what, says string) {
		t.Helper()
		harness.Eventually(t, what, func() bool {
			heard := &warnings{}
			config := plane.Config()
			config.WarningHandler = heard
			c, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
			require.NoError(t, err)
			err = c.Create(t.Context(), example.NewVectorSidecar("tried", "shop").Selecting("logs", "none").Build(), client.DryRunAll)
			return err == nil && strings.Contains(strings.Join(heard.texts, " "), says)
		})
	}
	const told, hushed = "a namespace may not set sidecar.s3cret", "VectorSidecar shop/tried: InvalidValues: the message may quote ConfigMaps"
	awaitSaid("an answer where nobody can prove to be the API server", hushed)

	for _, test := range []struct{ names, says string }{{"null", told}, {"{another}", hushed}, {"{" + callerName + "}", told}} {
		helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", judging(int(port)),
			"--set", "policy.overrides.namespaces={sidecar.logLevel},admissionWebhook.clientNames="+test.names,
			"--set-file", "admissionWebhook.clientCA="+filepath.Join(callerFolder, "client.crt"))
		i.restarted(t)
		awaitSaid("an answer where certificates have the names "+test.names, test.says)
	}
}
