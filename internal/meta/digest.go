// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the first bytes of a text's SHA-256 in hexadecimal, for names, labels and
// annotations. The number of bytes must never change where it is used, because the value
// would change with it.
func Digest(text []byte, bytes int) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:bytes])
}
