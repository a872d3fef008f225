// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

// The image holds nothing but the operator, so the authorities by which it trusts a
// trace collector or Sentry on the internet come with the program. Those of the
// system go before them, where there are any.
import _ "golang.org/x/crypto/x509roots/fallback"
