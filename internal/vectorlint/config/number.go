// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// These expressions match numbers as Vector's YAML reader does. Digits after a leading zero are text. 1_000 and
// numbers that a float cannot represent are also text.
var (
	yamlInteger = regexp.MustCompile(`^[-+]?(?:0|[1-9][0-9]*|0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+)$`)
	yamlFloat   = regexp.MustCompile(`^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$`)
	yamlNoFloat = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// plainForm returns the form of a YAML scalar that has neither quotes nor a tag.
func plainForm(scalar string) form {
	switch scalar {
	case "", "~", "null", "Null", "NULL":
		return null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return boolean
	}
	switch {
	case strings.IndexByte("0123456789+-.", scalar[0]) < 0:
		return text
	case yamlInteger.MatchString(scalar):
		return yamlIntegerForm(scalar)
	case yamlNoFloat.MatchString(scalar), strings.ContainsAny(scalar, ".eE") && yamlFloat.MatchString(scalar) && isFinite(scalar):
		return number
	}
	return text
}

// mostDigits is the maximum length of a 128-bit integer in binary notation, including the sign and the prefix.
const mostDigits = 3 + 128

// yamlIntegerForm returns the form of a YAML integer: number up to 64 bits, and wide up to 128 bits. A larger
// decimal integer is read as a fraction. A larger integer in another base is text.
func yamlIntegerForm(scalar string) form {
	if isInt64(scalar) {
		return number
	}
	n := new(big.Int)
	if len(scalar) <= mostDigits {
		n.SetString(strings.TrimPrefix(scalar, "+"), 0)
	}
	hasBase := strings.ContainsAny(scalar, "xob")
	switch {
	case n.Sign() > 0 && n.BitLen() <= 128, n.Sign() < 0 && n.BitLen() < 128:
		return wide
	case hasBase || !isFinite(scalar):
		return text
	}
	return number
}

// isFinite reports whether a scalar is a number that a 64-bit float can hold.
func isFinite(scalar string) bool {
	_, err := strconv.ParseFloat(scalar, 64)
	return err == nil
}

// jsonNumber returns the form of a JSON number. The form is wide for an integer that fits only into 64 bits
// without a sign, and for a number that a float cannot represent.
func jsonNumber(scalar string) form {
	if isInt64(scalar) {
		return number
	}
	if _, err := strconv.ParseUint(scalar, 10, 64); err == nil || !isFinite(scalar) {
		return wide
	}
	return number
}
