// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// certify is the script command "certify NAME DNS-NAME SINCE LEFT". It writes NAME.crt and NAME.key, a self-signed
// certificate with a start and a remaining validity.
func certify(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: certify NAME DNS-NAME SINCE LEFT")
	}
	since, err := time.ParseDuration(args[2])
	ts.Check(err)
	left, err := time.ParseDuration(args[3])
	ts.Check(err)
	certificate, key, err := harness.Certify(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: args[0]}, DNSNames: []string{args[1]},
		NotBefore: time.Now().Add(-since), NotAfter: time.Now().Add(left),
		IsCA: true, BasicConstraintsValid: true,
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".crt"), certificate, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), key, 0o600))
}
