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

	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// Policy is the action on the VectorSidecars of an operator that is uninstalled.
type Policy string

// The policies.
const (
	// Eject deletes the VectorSidecars and waits until their sidecars are removed.
	Eject Policy = "eject"
	// Orphan deletes the VectorSidecars and keeps their sidecars.
	Orphan Policy = "orphan"
	// Block fails while VectorSidecars exist.
	Block Policy = "block"
)

// Options configures BeforeUninstall. ParseOptions creates it.
type Options struct {
	Policy Policy
	// Timeout is the maximum time of the uninstall.
	Timeout time.Duration
	// Job is the name of the Job of this process, in the operator namespace.
	Job string
	// Clients are the field managers of Helm clients in addition to the known clients. A trailing * matches any
	// suffix.
	Clients []string
	// Pager is the Pager of the process, or nil for a new Pager.
	Pager *livelist.Pager
	// Operator describes the operator that is uninstalled.
	Operator Operator

	// notBefore is the end of the last write of a VectorSidecar that the values declare, zero for none.
	notBefore time.Time
}

// Operator describes an operator that is being uninstalled.
type Operator struct {
	// Namespace is the operator namespace. WatchNamespaces are the namespaces that the operator watches, empty
	// for all.
	Namespace       string
	WatchNamespaces []string
	// ClusterSidecars is true if ClusterVectorSidecars are enabled.
	ClusterSidecars bool
	// ValuesConfigMap is the name of the ConfigMap with the installation's values in Namespace, or "" for none.
	ValuesConfigMap string
	// Lease is the name of the leader election Lease, or "" without leader election.
	Lease string
	// Run runs another replica with the same options until the context is canceled. The replica is on standby
	// while the operator that is uninstalled leads. Run is required if there is a Lease.
	Run func(context.Context) error
}

// ParseOptions parses the command line: flags, then "--" and the arguments of the operator that is uninstalled.
// It returns these arguments unchanged. The error is flag.ErrHelp if the help was requested and printed.
func ParseOptions(arguments []string) (Options, []string, error) {
	options := Options{Policy: Eject}
	flags := flag.NewFlagSet("operator uninstall", flag.ContinueOnError)
	flags.Var(&options.Policy, "policy", "action on the VectorSidecars: eject, orphan or block")
	flags.DurationVar(&options.Timeout, "timeout", 5*time.Minute, "maximum time of the uninstall")
	flags.StringVar(&options.Job, "job", "", "name of the Job of this process, which must show that the release is being uninstalled")
	flags.Func("clients", "field managers of further Helm clients, separated by commas", func(text string) error {
		options.Clients = strings.Split(text, ",")
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return options, nil, err
	}
	if options.Job == "" {
		return options, nil, errors.New("--job is empty; set it to the name of the Job of this process")
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
		return errors.New("the policy must be eject, orphan or block")
	}
}
