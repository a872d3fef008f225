// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"
)

// choice is a flag that accepts only some words, and that may be omitted.
type choice struct {
	value   string
	allowed []string
}

// String implements pflag.Value.
func (c *choice) String() string { return c.value }

// Set implements pflag.Value.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("the value must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// Type implements pflag.Value.
func (*choice) Type() string { return "string" }
