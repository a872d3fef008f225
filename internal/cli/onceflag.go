// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// onceFlag is a flag that may be set only once. pflag would let a second value replace the first one silently.
type onceFlag struct {
	pflag.Value

	first *string
}

// Set implements pflag.Value.
func (o *onceFlag) Set(value string) error {
	if o.first != nil && *o.first != value {
		return fmt.Errorf("the flag is already set to %q: set it once", *o.first)
	}
	o.first = &value
	return o.Value.Set(value)
}

// acceptOnce makes all single-value flags of a command and its subcommands reject a second value.
func acceptOnce(command *cobra.Command) {
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		_, isList := flag.Value.(pflag.SliceValue)
		_, isMap := flag.Value.(labelFlag)
		if !isList && !isMap {
			flag.Value = &onceFlag{Value: flag.Value}
		}
	})
	for _, subcommand := range command.Commands() {
		acceptOnce(subcommand)
	}
}

// labelFlag is a repeatable flag with labels.
type labelFlag map[string]string

// String implements pflag.Value.
func (l labelFlag) String() string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(l)) {
		pairs = append(pairs, key+"="+l[key])
	}
	return strings.Join(pairs, ",")
}

// Set implements pflag.Value.
func (l labelFlag) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q is not KEY=VALUE", pair)
		}
		if current, exists := l[key]; exists && current != value {
			return fmt.Errorf("label %s is already set to %q: set it once", key, current)
		}
		l[key] = value
	}
	return nil
}

// Type implements pflag.Value.
func (labelFlag) Type() string { return "stringToString" }
