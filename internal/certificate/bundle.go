// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"
)

const (
	// overlap is how long an authority is trusted after its successor was made.
	overlap = 10 * time.Minute
	// mostBefore is how many authorities are trusted beside the current one.
	mostBefore = 2
)

// bundleOf is what the API server should trust: an authority, and for some time
// those that it trusts already. A process that has not seen the new certificate yet,
// and an API server that has not seen the new bundle yet, understand each other.
func bundleOf(authority, trusted []byte, now time.Time) []byte {
	bundle := bytes.Clone(authority)
	if madeAt(authority).Add(overlap).Before(now) {
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

// madeAt is when an authority was made; long ago if it cannot be read.
func madeAt(authority []byte) time.Time {
	block, _ := pem.Decode(authority)
	if block == nil {
		return time.Time{}
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return certificate.NotBefore.Add(early)
}
