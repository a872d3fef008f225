// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"
)

// Policy says what becomes of the VectorSidecars of an operator that goes.
type Policy string

// The policies.
const (
	// Eject deletes the VectorSidecars and waits until their sidecars are out.
	Eject Policy = "eject"
	// Orphan deletes the VectorSidecars and leaves their sidecars.
	Orphan Policy = "orphan"
	// Block refuses while there are any.
	Block Policy = "block"
)

// Options are what BeforeUninstall is to do. ParseOptions fills them in.
type Options struct {
	Policy Policy
	// Timeout is how long it may take.
	Timeout time.Duration
	// Job is the name of the Job that it runs in, in the operator's namespace.
	Job string
	// Clients are the field managers of further programs that uninstall releases as Helm
	// does, beside those that are known. One that ends in * stands for all that begin so.
	Clients []string
	// Operator is the one that goes.
	Operator Operator
}

// Operator is what has to be known of an operator that goes.
type Operator struct {
	// Namespace is its own, and WatchNamespaces are those that it works in; empty for all.
	Namespace       string
	WatchNamespaces []string
	// ValuesConfigMap holds the installation's values, in its namespace; "" for none.
	ValuesConfigMap string
	// Lease is the one by which it elects its leader; "" if it elects none.
	Lease string
	// Run runs another one with its options until the context ends. It waits while
	// the one that goes leads. It is required where there is a Lease.
	Run func(context.Context) error
}

// ParseOptions reads the command line: flags, then "--" and the arguments of the
// operator that goes, which it returns as they are. The error is flag.ErrHelp when help
// was asked for and printed.
func ParseOptions(arguments []string) (Options, []string, error) {
	options := Options{Policy: Eject}
	flags := flag.NewFlagSet("operator uninstall", flag.ContinueOnError)
	flags.Var(&options.Policy, "policy", "what becomes of the VectorSidecars: eject, orphan or block")
	flags.DurationVar(&options.Timeout, "timeout", 5*time.Minute, "how long it may take")
	flags.StringVar(&options.Job, "job", "", "the Job that this runs in, which has to show that the release is being uninstalled")
	flags.Func("clients", "field managers of further clients of Helm, a comma between two", func(text string) error {
		options.Clients = strings.Split(text, ",")
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return options, nil, err
	}
	if options.Job == "" {
		return options, nil, errors.New("--job is empty: name the Job that this runs in")
	}
	if options.Timeout <= 0 {
		return options, nil, fmt.Errorf("--timeout is %s: it must be more than 0", options.Timeout)
	}
	return options, flags.Args(), nil
}

// String implements flag.Value.
func (p *Policy) String() string { return string(*p) }

// Set implements flag.Value.
func (p *Policy) Set(text string) error {
	switch policy := Policy(text); policy {
	case Eject, Orphan, Block:
		*p = policy
		return nil
	default:
		return errors.New("it must be eject, orphan or block")
	}
}
