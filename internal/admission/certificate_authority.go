// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

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

// The Secret has these keys in addition to the keys of every kubernetes.io/tls Secret.
const (
	// keyAuthority is the key of the CA's certificate in the Secret.
	keyAuthority = "ca.crt"
	// keyAuthorityPrivate is the key of the CA's private key in the Secret.
	keyAuthorityPrivate = "ca.key"
)

const (
	// authorityName is the common name of the CA.
	authorityName = "vector-sidecar-operator-ca"
	// authorityDuration is the validity of the CA.
	authorityDuration = 10 * 365 * 24 * time.Hour
	// LongestCertificateDuration is the maximum validity of a certificate. A CA must outlive the certificates
	// that it signs, so a longer validity would leave the CA no time in which it can sign.
	LongestCertificateDuration = authorityDuration / 2
	// clockTolerance is the time by which the start of a certificate's validity is set back, to tolerate clocks that
	// are not synchronized.
	clockTolerance = time.Hour
)

// authority issues certificates for the DNS names of a Service, and checks whether they are still valid.
type authority struct {
	maker *rotator.CertRotator
	// duration is the validity of a certificate. The certificate is renewed when a third of its validity
	// remains.
	duration time.Duration
	now      func() time.Time
}

// newAuthority returns an authority for the DNS names of a Service. duration is the validity of its certificates.
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

// withNewCA returns a copy of the Secret's data with a new CA. The copy keeps the old certificate, until the
// API server trusts the new CA.
func (a *authority) withNewCA(data map[string][]byte) (map[string][]byte, error) {
	signer, err := a.maker.CreateCACert(a.now().Add(-clockTolerance), a.now().Add(authorityDuration))
	if err != nil {
		return nil, fmt.Errorf("creating a certificate authority: %w", err)
	}
	updated := maps.Clone(data)
	if updated == nil {
		updated = map[string][]byte{}
	}
	updated[keyAuthority], updated[keyAuthorityPrivate] = signer.CertPEM, signer.KeyPEM
	return updated, nil
}

// withNewCertificate returns a copy of the Secret's data with a new certificate, signed by the CA in the data.
func (a *authority) withNewCertificate(data map[string][]byte) (map[string][]byte, error) {
	signer, err := a.loadSigner(data)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	certificate, key, err := a.maker.CreateCertPEM(signer, a.now().Add(-clockTolerance), a.now().Add(a.duration))
	if err != nil {
		return nil, fmt.Errorf("creating a certificate: %w", err)
	}
	updated := maps.Clone(data)
	updated[corev1.TLSCertKey], updated[corev1.TLSPrivateKeyKey] = certificate, key
	return updated, nil
}

// hasAuthority reports whether the Secret's data contains a CA that is valid for longer than a certificate that
// it would sign now.
func (a *authority) hasAuthority(data map[string][]byte) bool {
	_, err := a.loadSigner(data)
	return err == nil
}

// loadSigner returns the CA in the Secret's data, or an error that explains why the CA cannot be used.
func (a *authority) loadSigner(data map[string][]byte) (*rotator.KeyPairArtifacts, error) {
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
		return nil, errors.New("private key is not an RSA key")
	}
	return &rotator.KeyPairArtifacts{Cert: pair.Leaf, Key: key, CertPEM: certificate, KeyPEM: private}, nil
}

// isValid reports whether the certificate in the Secret's data is valid and does not need to be renewed yet.
func (a *authority) isValid(data map[string][]byte) bool {
	good, err := rotator.ValidCert(data[keyAuthority], data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey],
		a.maker.DNSName, a.maker.ExtKeyUsages, a.now().Add(a.duration/3))
	return good && err == nil
}
