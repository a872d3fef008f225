// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// at is an authority for a service, at a time.
func at(now time.Time) *authority {
	a := newAuthority("webhook", "vector-system", 90*24*time.Hour)
	a.now = func() time.Time { return now }
	return a
}

func renewed(t *testing.T, a *authority, data map[string][]byte) map[string][]byte {
	t.Helper()
	next, isNew, err := a.renew(data)
	require.NoError(t, err)
	require.True(t, isNew)
	return next
}

func TestACertificateIsForTheServiceAndKnownByItsAuthority(t *testing.T) {
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

func TestACertificateIsReplacedInTime(t *testing.T) {
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
			next, isNew, err := at(now.Add(test.after)).renew(given)
			require.NoError(t, err)
			require.Equal(t, test.certificate, isNew)
			require.Equal(t, test.certificate, !bytes.Equal(data["tls.crt"], next["tls.crt"]))
			require.Equal(t, test.authorizer, !bytes.Equal(data["ca.crt"], next["ca.crt"]))
		})
	}
}

func TestAnAuthorityIsTrustedBesideItsSuccessorForSomeTime(t *testing.T) {
	now := time.Now()
	var made [][]byte
	for range 4 {
		made = append(made, renewed(t, at(now), nil)["ca.crt"])
	}
	join := func(authorities ...[]byte) string { return string(bytes.Join(authorities, nil)) }

	bundle := bundleOf(made[0], nil, now)
	require.Equal(t, join(made[0]), string(bundle))
	require.Equal(t, string(bundle), string(bundleOf(made[0], bundle, now)), "nothing changes")
	bundle = bundleOf(made[1], bundle, now)
	require.Equal(t, join(made[1], made[0]), string(bundle))
	bundle = bundleOf(made[3], bundleOf(made[2], bundle, now), now)
	require.Equal(t, join(made[3], made[2], made[1]), string(bundle), "it does not grow for ever")
	require.Equal(t, join(made[3]), string(bundleOf(made[3], bundle, now.Add(overlap+time.Minute))), "in the end it stands alone")
	require.Equal(t, join(made[0]), string(bundleOf(made[0], []byte("no certificate"), now)))
}

func TestTheLastGoodCertificateIsServed(t *testing.T) {
	served := &Served{log: logr.Discard()}
	_, err := served.Get(nil)
	require.ErrorContains(t, err, "no certificate yet")

	secret := &corev1.Secret{}
	served.take(secret)
	_, err = served.Get(nil)
	require.Error(t, err, "the chart's Secret is empty")
	secret.Data = renewed(t, at(time.Now()), nil)
	served.take(secret)
	first, err := served.Get(nil)
	require.NoError(t, err)
	for name, data := range map[string]map[string][]byte{
		"nothing":       nil,
		"half a change": {"tls.crt": renewed(t, at(time.Now()), nil)["tls.crt"], "tls.key": secret.Data["tls.key"]},
	} {
		served.take(&corev1.Secret{Data: data})
		now, err := served.Get(nil)
		require.NoError(t, err)
		require.Same(t, first, now, name)
	}
}
