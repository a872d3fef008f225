// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// at returns an authority for a service, with its clock at a time.
func at(now time.Time) *authority {
	a := newAuthority("webhook", "vector-system", 90*24*time.Hour)
	a.now = func() time.Time { return now }
	return a
}

// renewed returns what becomes of the data of a Secret while no webhook is registered.
func renewed(t *testing.T, a *authority, data map[string][]byte) map[string][]byte {
	t.Helper()
	var err error
	if !a.hasAuthority(data) {
		data, err = a.withNewCA(data)
		require.NoError(t, err)
	}
	if !a.isValid(data) {
		data, err = a.withNewCertificate(data)
		require.NoError(t, err)
	}
	return data
}

func TestAuthority_IssuesCertificateForService(t *testing.T) {
	data := renewed(t, at(time.Now()), nil)

	pair, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(data["ca.crt"]))
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "webhook.vector-system.svc"})
	require.NoError(t, err)
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "another.vector-system.svc"})
	require.Error(t, err)
}

func TestAuthority_ReplacesCertificateBeforeExpiry(t *testing.T) {
	now := time.Now()
	data := renewed(t, at(now), nil)
	for name, test := range map[string]struct {
		after                   time.Duration
		change                  func(map[string][]byte)
		certificate, authorizer bool
	}{
		"at once":                       {after: 0},
		"with more than a third left":   {after: 59 * 24 * time.Hour},
		"with a third left":             {after: 61 * 24 * time.Hour, certificate: true},
		"when it is over":               {after: 100 * 24 * time.Hour, certificate: true},
		"before the authority is over":  {after: authorityDuration - 89*24*time.Hour, certificate: true, authorizer: true},
		"when its key is lost":          {change: func(d map[string][]byte) { delete(d, "tls.key") }, certificate: true},
		"when the authority's key goes": {change: func(d map[string][]byte) { delete(d, "ca.key") }, certificate: true, authorizer: true},
		"when the authority is garbage": {change: func(d map[string][]byte) { d["ca.crt"] = []byte("x") }, certificate: true, authorizer: true},
	} {
		t.Run(name, func(t *testing.T) {
			given := map[string][]byte{}
			for key, value := range data {
				given[key] = value
			}
			if test.change != nil {
				test.change(given)
			}
			next := renewed(t, at(now.Add(test.after)), given)
			require.Equal(t, test.certificate, !bytes.Equal(data["tls.crt"], next["tls.crt"]))
			require.Equal(t, test.authorizer, !bytes.Equal(data["ca.crt"], next["ca.crt"]))
		})
	}
}

// A CA can sign certificates of the longest duration that the flag allows.
func TestAuthority_AcceptsLongestDuration(t *testing.T) {
	longest := at(time.Now())
	longest.duration = LongestCertificateDuration
	data := renewed(t, longest, nil)
	require.True(t, longest.hasAuthority(data) && longest.isValid(data))
}

// The bundle contains previous certificate authorities for some time after their replacement.
func TestNewCABundle_KeepsPreviousAuthorities(t *testing.T) {
	now := time.Now()
	var made []map[string][]byte
	for range 4 {
		made = append(made, renewed(t, at(now), nil))
	}
	join := func(authorities ...map[string][]byte) string {
		var text string
		for _, data := range authorities {
			text += string(data["ca.crt"])
		}
		return text
	}

	bundle := newCABundle(made[0], nil, now)
	require.Equal(t, join(made[0]), string(bundle))
	require.Equal(t, string(bundle), string(newCABundle(made[0], bundle, now)), "nothing changes")
	bundle = newCABundle(made[1], bundle, now)
	require.Equal(t, join(made[1], made[0]), string(bundle))
	bundle = newCABundle(made[3], newCABundle(made[2], bundle, now), now)
	require.Equal(t, join(made[3], made[2], made[1]), string(bundle), "it does not grow for ever")
	require.Equal(t, join(made[3]), string(newCABundle(made[3], bundle, now.Add(overlap+time.Minute))), "in the end it stands alone")
	require.Equal(t, join(made[0]), string(newCABundle(made[0], []byte("no certificate"), now)))

	unsigned := map[string][]byte{"ca.crt": made[1]["ca.crt"], "tls.crt": made[0]["tls.crt"]}
	require.Equal(t, join(made[1], made[0]), string(newCABundle(unsigned, []byte(join(made[0])), now.Add(overlap+time.Minute))), "what is served is of the one before")
}

// The Secret gets an invalid certificate. The webhook continues with the last valid one.
func TestServedCertificate_KeepsLastValidCertificate(t *testing.T) {
	var valid []time.Time
	served := &ServedCertificate{log: logr.Discard(), observe: func(_, notAfter time.Time) { valid = append(valid, notAfter) }}
	_, err := served.Get(nil)
	require.ErrorContains(t, err, "no certificate yet")

	secret := &corev1.Secret{}
	served.storeCertificate(secret)
	_, err = served.Get(nil)
	require.Error(t, err, "the chart's Secret is empty")
	secret.Data = renewed(t, at(time.Now()), nil)
	served.storeCertificate(secret)
	first, err := served.Get(nil)
	require.NoError(t, err)
	require.Equal(t, []time.Time{first.Leaf.NotAfter}, valid)
	require.True(t, served.isServing(secret.Data["tls.crt"]))
	require.False(t, served.isServing(renewed(t, at(time.Now()), nil)["tls.crt"]))
	require.False(t, served.isServing(nil))
	for name, data := range map[string]map[string][]byte{
		"nothing":       nil,
		"half a change": {"tls.crt": renewed(t, at(time.Now()), nil)["tls.crt"], "tls.key": secret.Data["tls.key"]},
	} {
		served.storeCertificate(&corev1.Secret{Data: data})
		now, err := served.Get(nil)
		require.NoError(t, err)
		require.Same(t, first, now, name)
	}
}

// The next step of a certificate renewal depends only on the Secret and the webhook configuration in the cluster. So
// any replica can continue a renewal that another replica started.
func TestClusterState_DeterminesNextStep(t *testing.T) {
	from := at(time.Now())
	authorized, err := from.withNewCA(nil)
	require.NoError(t, err)
	signed, err := from.withNewCertificate(authorized)
	require.NoError(t, err)
	other := renewed(t, from, nil)
	calls := func(bundle []byte) []admissionv1.ValidatingWebhook {
		return []admissionv1.ValidatingWebhook{{Name: "others"}, {Name: "ours", ClientConfig: admissionv1.WebhookClientConfig{CABundle: bundle}}}
	}
	for name, test := range map[string]struct {
		data     map[string][]byte
		webhooks []admissionv1.ValidatingWebhook
		is       certificateState
	}{
		"an empty Secret":                        {nil, nil, unauthorized},
		"an authority alone":                     {authorized, nil, unsigned},
		"a certificate":                          {signed, nil, unregistered},
		"a webhook of others":                    {signed, calls(nil)[:1], unregistered},
		"a webhook":                              {signed, calls(signed["ca.crt"]), upToDate},
		"a webhook that trusts two":              {signed, calls(append(slices.Clone(signed["ca.crt"]), other["ca.crt"]...)), upToDate},
		"a webhook that trusts nobody":           {signed, calls(nil), untrusted},
		"a webhook that trusts another one":      {signed, calls(other["ca.crt"]), untrusted},
		"an authority that is to be known first": {authorized, calls(other["ca.crt"]), untrusted},
		"an authority that is known":             {authorized, calls(authorized["ca.crt"]), unsigned},
		"a Secret that was emptied":              {nil, calls(other["ca.crt"]), unauthorized},
	} {
		configuration := &admissionv1.ValidatingWebhookConfiguration{Webhooks: test.webhooks}
		configuration.Annotations = map[string]string{meta.AnnotationWebhook: `{"name": "ours", "clientConfig": {}}`}
		webhook, err := desiredWebhook(configuration)
		require.NoError(t, err)
		found := &clusterState{secret: &corev1.Secret{Data: test.data}, configuration: configuration, webhook: webhook}
		require.Equal(t, absent, found.certificateState(from), name)
		found.secret.ResourceVersion = "1"
		require.Equal(t, test.is, found.certificateState(from), name)
	}
}

func TestDesiredWebhook_RejectsInvalidConfiguration(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "an unknown key": `{"name": "ours", "clientConfig": {}, "ruls": []}`, "no name": `{"clientConfig": {}}`,
	} {
		configuration := &admissionv1.ValidatingWebhookConfiguration{}
		configuration.Name, configuration.Annotations = "vso", map[string]string{meta.AnnotationWebhook: text}
		_, err := desiredWebhook(configuration)
		require.ErrorContains(t, err, "annotation "+meta.AnnotationWebhook+" of ValidatingWebhookConfiguration vso", name)
		require.ErrorContains(t, err, "upgrade the installation", name)
	}
}
