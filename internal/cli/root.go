// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the kubectl plugin's commands: read files or a cluster, decide
// with the operator's own code, print. Data goes to the standard output and
// everything else to the standard error. Of all commands only eject changes a
// cluster, and reconcile, which leaves an annotation.
package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plain"
	"kontroloop.ai/vector-sidecar-operator/internal/world"
)

// Exit codes. What 1 means is a command's own: differences, findings, failures;
// of commands that say nothing of it, it is an error.
const (
	exitFound = 1
	exitError = 2
)

// exit ends a command with a code, and an error to print if there is one.
type exit struct {
	code int
	err  error
}

// Error is empty if there is nothing to say that was not said.
func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// app is what all commands share.
type app struct {
	genericiooptions.IOStreams

	// chart is the sidecar chart that is rendered, and builtin the one of this program.
	chart, builtin fs.FS
	version        string
	kube           *genericclioptions.ConfigFlags
	// files are read in place of those of the file system; nil for those.
	files map[string][]byte
	// cluster is read in place of the one that the flags name; nil for that.
	cluster client.WithWatch
}

// readFile reads a file that the command line names.
func (a *app) readFile(name string) ([]byte, error) {
	if a.files == nil {
		return world.ReadFile(name)
	}
	text, ok := a.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

// Run runs the plugin and returns its exit code. chart is the sidecar chart that
// is rendered unless another one is given.
func Run(ctx context.Context, arguments []string, streams genericiooptions.IOStreams, chart fs.FS, version string) int {
	return newApp(streams, chart, version).run(ctx, arguments)
}

func (a *app) run(ctx context.Context, arguments []string) int {
	root := a.root() //nolint:contextcheck // The commands get theirs when they run.
	root.SetArgs(arguments)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if err.Error() != "" {
		a.note("error: %s", err)
	}
	var coded *exit
	if errors.As(err, &coded) {
		return coded.code
	}
	return 1
}

// New returns the plugin's root command.
func New(streams genericiooptions.IOStreams, chart fs.FS, version string) *cobra.Command {
	return newApp(streams, chart, version).root()
}

// newApp guards what is written for people: what is shown is others', as a rule.
func newApp(streams genericiooptions.IOStreams, chart fs.FS, version string) *app {
	streams.Out, streams.ErrOut = plain.NewWriter(streams.Out), plain.NewWriter(streams.ErrOut)
	a := &app{IOStreams: streams, chart: chart, builtin: chart, version: version, kube: genericclioptions.NewConfigFlags(true)}
	a.kube.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.UserAgent = meta.UserAgent("kubectl-vectorsidecar", version)
		return config
	}
	return a
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-vectorsidecar",
		Short: "See, try and prove what the Vector Sidecar Operator decides, with or without a cluster",
		Long: `See, try and prove what the Vector Sidecar Operator decides, with or without a cluster.

Workloads and VectorSidecars that are not given in files are read from the cluster
of the current kubeconfig. With both in files, no cluster is needed.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl vectorsidecar"},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.ErrOut)
	root.AddCommand(
		newRender(a), newDiff(a), newPlan(a), newExplain(a), newInject(a), newEject(a), newReconcile(a), newGet(a), newTree(a), newCheck(a),
		newLint(a), newTest(a), newSchema(a), newDocs(a), newVersion(a), newCompletion(a),
	)
	return root
}

// withCluster adds kubectl's own flags to a command that may read a cluster.
func (a *app) withCluster(flags *pflag.FlagSet) { a.kube.AddFlags(flags) }

// judging makes exit code 1 mean what a command has found, and 2 every error.
func judging(command *cobra.Command) *cobra.Command {
	asError := func(err error) error {
		var known *exit
		if err == nil || errors.As(err, &known) {
			return err
		}
		return &exit{code: exitError, err: err}
	}
	run, arguments := command.RunE, command.Args
	command.RunE = func(command *cobra.Command, given []string) error { return asError(run(command, given)) }
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return asError(err) })
	if arguments != nil {
		command.Args = func(command *cobra.Command, given []string) error { return asError(arguments(command, given)) }
	}
	return command
}
