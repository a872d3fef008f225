// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

// The image contains nothing but the operator, so the CA certificates needed to trust a
// trace collector or Sentry on the internet are compiled in. Those of the system, if any,
// take precedence.
import _ "golang.org/x/crypto/x509roots/fallback"
