// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
)

// Keys of the Secret, beside those of every Secret with a certificate.
const (
	keyAuthority        = "ca.crt"
	keyAuthorityPrivate = "ca.key"
)

const (
	authorityName     = "vector-sidecar-operator-ca"
	authorityDuration = 10 * 365 * 24 * time.Hour
	// early is how long before it is made a certificate is valid, for clocks that
	// are behind.
	early = time.Hour
)

// authority makes certificates for a name, and tells which are still good.
type authority struct {
	maker *rotator.CertRotator
	// duration is how long a certificate is valid. It is replaced when a third of
	// that is left.
	duration time.Duration
	now      func() time.Time
}

func newAuthority(service, namespace string, duration time.Duration) *authority {
	host := fmt.Sprintf("%s.%s.svc", service, namespace)
	return &authority{
		maker: &rotator.CertRotator{
			CAName: authorityName, CAOrganization: "vector-sidecar-operator",
			DNSName: host, ExtraDNSNames: []string{host + ".cluster.local"},
			ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		},
		duration: duration, now: time.Now,
	}
}

// authorized returns the data of the Secret with another authority. The certificate
// stays, as long as nobody trusts the authority.
func (a *authority) authorized(data map[string][]byte) (map[string][]byte, error) {
	signer, err := a.maker.CreateCACert(a.now().Add(-early), a.now().Add(authorityDuration))
	if err != nil {
		return nil, fmt.Errorf("making an authority: %w", err)
	}
	next := maps.Clone(data)
	if next == nil {
		next = map[string][]byte{}
	}
	next[keyAuthority], next[keyAuthorityPrivate] = signer.CertPEM, signer.KeyPEM
	return next, nil
}

// signed returns the data of the Secret with another certificate of its authority.
func (a *authority) signed(data map[string][]byte) (map[string][]byte, error) {
	signer, err := a.signer(data)
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	certificate, key, err := a.maker.CreateCertPEM(signer, a.now().Add(-early), a.now().Add(a.duration))
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	next := maps.Clone(data)
	next[corev1.TLSCertKey], next[corev1.TLSPrivateKeyKey] = certificate, key
	return next, nil
}

// hasAuthority tells whether there is an authority that outlives what it signs.
func (a *authority) hasAuthority(data map[string][]byte) bool {
	_, err := a.signer(data)
	return err == nil
}

// signer reads the authority of the Secret. The error says why it is of no use.
func (a *authority) signer(data map[string][]byte) (*rotator.KeyPairArtifacts, error) {
	certificate, private := data[keyAuthority], data[keyAuthorityPrivate]
	if _, err := rotator.ValidCert(certificate, certificate, private, authorityName, nil, a.now().Add(a.duration)); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, private)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("its key is not of the kind that the operator makes")
	}
	return &rotator.KeyPairArtifacts{Cert: pair.Leaf, Key: key, CertPEM: certificate, KeyPEM: private}, nil
}

// isGood tells whether the certificate needs no successor yet.
func (a *authority) isGood(data map[string][]byte) bool {
	good, err := rotator.ValidCert(data[keyAuthority], data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey],
		a.maker.DNSName, a.maker.ExtKeyUsages, a.now().Add(a.duration/3))
	return good && err == nil
}
