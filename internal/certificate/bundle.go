// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// overlap is how long an authority is trusted after its successor has signed.
	overlap = 10 * time.Minute
	// mostBefore is how many authorities are trusted beside the current one.
	mostBefore = 2
)

// bundleOf is what the API server should trust: the authority of a Secret, and for some
// time those that it trusts already. A process that has not seen the new certificate
// yet, and an API server that has not seen the new bundle yet, understand each other.
func bundleOf(data map[string][]byte, trusted []byte, now time.Time) []byte {
	authority := data[keyAuthority]
	bundle := bytes.Clone(authority)
	if since := inUseSince(data); !since.IsZero() && since.Add(overlap).Before(now) {
		return bundle
	}
	before := 0
	for block, rest := pem.Decode(trusted); block != nil && before < mostBefore; block, rest = pem.Decode(rest) {
		if one := pem.EncodeToMemory(block); !bytes.Equal(bytes.TrimSpace(one), bytes.TrimSpace(authority)) {
			bundle = append(bundle, one...)
			before++
		}
	}
	return bundle
}

// inUseSince is when the certificate was made, if the authority has signed it; the zero
// time if another one has.
func inUseSince(data map[string][]byte) time.Time {
	certificate, authority := parsed(data[corev1.TLSCertKey]), parsed(data[keyAuthority])
	if certificate == nil || authority == nil || certificate.CheckSignatureFrom(authority) != nil {
		return time.Time{}
	}
	return certificate.NotBefore.Add(early)
}

// parsed reads the first certificate of a text; nil if there is none.
func parsed(text []byte) *x509.Certificate {
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
