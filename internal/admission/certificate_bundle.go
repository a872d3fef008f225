// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// overlap is the time for which the previous CA stays trusted after the new CA has signed a certificate.
	overlap = 10 * time.Minute
	// maxPrevious is the maximum number of previous CAs in the bundle.
	maxPrevious = 2
)

// newCABundle returns the CA bundle for the API server: the CA in the Secret's data, and for some time the CAs
// that the API server already trusts. The API server can then also connect to replicas that do not serve the
// new certificate yet.
func newCABundle(data map[string][]byte, trusted []byte, now time.Time) []byte {
	authority := data[keyAuthority]
	bundle := bytes.Clone(authority)
	if usedSince := useStart(data); !usedSince.IsZero() && usedSince.Add(overlap).Before(now) {
		return bundle
	}
	previousCount := 0
	for block, rest := pem.Decode(trusted); block != nil && previousCount < maxPrevious; block, rest = pem.Decode(rest) {
		if encoded := pem.EncodeToMemory(block); !bytes.Equal(bytes.TrimSpace(encoded), bytes.TrimSpace(authority)) {
			bundle = append(bundle, encoded...)
			previousCount++
		}
	}
	return bundle
}

// useStart returns the time when the current CA signed the certificate, or zero if the current CA did not
// sign it.
func useStart(data map[string][]byte) time.Time {
	certificate, authority := parseCertificate(data[corev1.TLSCertKey]), parseCertificate(data[keyAuthority])
	if certificate == nil || authority == nil || certificate.CheckSignatureFrom(authority) != nil {
		return time.Time{}
	}
	return certificate.NotBefore.Add(clockTolerance)
}

// parseCertificate returns the first certificate in a PEM text, or nil for none.
func parseCertificate(text []byte) *x509.Certificate {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return certificate
}
