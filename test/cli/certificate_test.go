// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// certify is "certify NAME DNS-NAME SINCE LEFT" in a script. It writes NAME.crt and
// NAME.key: a certificate that signs itself, valid since and for some time.
func certify(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: certify NAME DNS-NAME SINCE LEFT")
	}
	since, err := time.ParseDuration(args[2])
	ts.Check(err)
	left, err := time.ParseDuration(args[3])
	ts.Check(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: args[0]}, DNSNames: []string{args[1]},
		NotBefore: time.Now().Add(-since), NotAfter: time.Now().Add(left),
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	ts.Check(err)
	private, err := x509.MarshalECPrivateKey(key)
	ts.Check(err)
	write := func(name, kind string, bytes []byte) {
		ts.Check(os.WriteFile(ts.MkAbs(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
	}
	write(args[0]+".crt", "CERTIFICATE", certificate)
	write(args[0]+".key", "EC PRIVATE KEY", private)
}
