// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the first bytes of a text's SHA-256, in hexadecimal: what stands for the
// text in names, labels and annotations. How many bytes is for good at each place, because
// another length would be another value there.
func Digest(text []byte, bytes int) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:bytes])
}
