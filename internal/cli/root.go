// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli implements the commands of the kubectl plugin. A command reads files or a cluster, decides with the
// operator's code, and prints the result. Data goes to standard output, and everything else to standard error. The
// commands eject, reconcile and rollout are the only commands that change a cluster.
package cli

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/definition"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/serverclock"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// Exit codes of every command. 0 means success without findings.
const (
	// exitFound means that the command succeeded and found something: differences, findings, or a failed test or
	// check.
	exitFound = 1
	// exitError means that the command failed, completely or in part.
	exitError = 2
)

// foundError is the error of a command that has found something, such as differences, and so ends with exit code 1. Its
// text is "" if the command has already printed everything.
type foundError struct{ err error }

func (e *foundError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *foundError) Unwrap() error { return e.err }

// app contains the state that all commands share.
type app struct {
	genericiooptions.IOStreams

	// chart is the sidecar chart that commands render.
	chart   fs.FS
	builtin Builtin
	version string
	kube    *genericclioptions.ConfigFlags
	// files replace the file system, or is nil.
	files map[string][]byte
	// moreValues take precedence over the values of a command's flags. It is nil for none.
	moreValues *valueSource
	// clock has the time of the API server, by which the operator decides, too.
	clock *serverclock.Clock
	// cluster replaces the cluster that the flags name, or is nil.
	cluster client.WithWatch
}

// readFile reads a file named on the command line.
func (a *app) readFile(name string) ([]byte, error) {
	if a.files == nil {
		return source.ReadFile(name)
	}
	text, ok := a.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

// readInput reads a file named on the command line, or the standard input.
func (a *app) readInput(name string) ([]byte, error) {
	if name == standardInput {
		return readStandardInput(a.In)
	}
	return a.readFile(name)
}

// Builtin contains the files that are built into the program. All fields except ClusterDefinition are required.
type Builtin struct {
	// Chart is the sidecar chart to render unless a flag names another one.
	Chart fs.FS
	// Definition is the CustomResourceDefinition of VectorSidecars, in YAML.
	Definition []byte
	// ClusterDefinition is the CustomResourceDefinition of ClusterVectorSidecars. Without it, they are not validated.
	ClusterDefinition []byte

	definition, clusterDefinition func() (*definition.Definition, error)
}

// WithCache returns a copy that reads each part only once, for all commands that use the copy.
func (b Builtin) WithCache() Builtin {
	if b.definition != nil {
		return b
	}
	b.Chart = newLoadedOnce(b.Chart)
	b.definition = sync.OnceValues(func() (*definition.Definition, error) { return definition.Parse(b.Definition) })
	if len(b.ClusterDefinition) > 0 {
		b.clusterDefinition = sync.OnceValues(func() (*definition.Definition, error) { return definition.Parse(b.ClusterDefinition) })
	}
	return b
}

// Run runs the plugin and returns its exit code.
func Run(ctx context.Context, arguments []string, streams genericiooptions.IOStreams, builtin Builtin, version string) int {
	return newApp(streams, builtin, version).run(ctx, arguments)
}

// run runs a command, prints its error, and returns the exit code.
func (a *app) run(ctx context.Context, arguments []string) int {
	root := a.rootCommand() //nolint:contextcheck // The commands get theirs when they run.
	root.SetArgs(arguments)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if err.Error() != "" {
		a.printNote("error: %s", err)
	}
	if errors.As(err, new(*foundError)) {
		return exitFound
	}
	return exitError
}

// New returns the plugin's root command.
func New(streams genericiooptions.IOStreams, builtin Builtin, version string) *cobra.Command {
	return newApp(streams, builtin, version).rootCommand()
}

// newApp returns an app. Its outputs for people escape control characters, because most texts are not from this
// program.
func newApp(streams genericiooptions.IOStreams, builtin Builtin, version string) *app {
	builtin = builtin.WithCache()
	streams.Out, streams.ErrOut = humanize.NewWriter(streams.Out), humanize.NewWriter(streams.ErrOut)
	a := &app{IOStreams: streams, chart: builtin.Chart, builtin: builtin, version: version, kube: genericclioptions.NewConfigFlags(true), clock: serverclock.New(nil)}
	a.kube.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.UserAgent = meta.UserAgent("kubectl-vectorsidecar", version)
		config.Wrap(a.clock.WrapTransport)
		return config
	}
	return a
}

// rootCommand returns the root command with all commands.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-vectorsidecar",
		Short: "Preview, test and explain decisions of the Vector Sidecar Operator, with or without a cluster",
		Long: `Preview, test and explain decisions of the Vector Sidecar Operator, with or without a cluster.

Workloads and VectorSidecars outside of the given files are read from the cluster of the current
kubeconfig. If files have both, the plugin works without a cluster.

If you may not read the labels of a namespace or the values of the installation, the plugin uses the
operator's report in the status of a VectorSidecar, or else prints its assumptions. All other failed
reads are errors.

Exit codes are 0 for success, 1 for findings (see check, diff, eject, lint, reconcile, rollout diff,
test and validate), and 2 if the command failed, also in part, such as at an object or a file that
cannot be read.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl vectorsidecar"},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.ErrOut)
	root.AddCommand(
		newRender(a), newDiff(a), newPlan(a), newExplain(a), newInject(a), newEject(a), newReconcile(a), newRollout(a), newGet(a), newTree(a), newCheck(a),
		newLint(a), newTest(a), newValidate(a), newSchema(a), newDocs(a), newVersion(a), newCompletion(a),
	)
	acceptOnce(root)
	return root
}

// addClusterFlags adds the flags of kubectl to a command that may read a cluster.
func (a *app) addClusterFlags(flags *pflag.FlagSet) { a.kube.AddFlags(flags) }
