// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the first bytes of the SHA-256 of a text in hexadecimal, for names, labels and annotations. bytes is
// the number of bytes; it must never change for an existing use, because the value would change with it.
func Digest(text []byte, bytes int) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:bytes])
}
