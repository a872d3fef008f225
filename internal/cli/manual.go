// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// manualPage returns docs/reference/cli.md.
func manualPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(license + "# kubectl vectorsidecar\n\nWritten by `make generate`. A test runs every example.\n\n" + root.Long + `

All commands except ` + strings.Join(offlineCommands(root), ", ") + ` have kubectl's flags for the cluster, such as ` + "`-n`, `--context` and `--kubeconfig`" + `.
Data goes to the standard output, everything else to the standard error. Only terminals get colors, unless ` + "`NO_COLOR`" + ` is set.

| Command | Effect |
|---|---|
`)
	for _, command := range root.Commands() {
		if isDocumented(command) {
			fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", command.Name(), command.Name(), command.Short)
		}
	}
	for _, command := range root.Commands() {
		if isDocumented(command) {
			describeCommand(&b, command)
		}
	}
	return b.String()
}

// offlineCommands returns the commands without kubectl's flags, in Markdown.
func offlineCommands(root *cobra.Command) []string {
	var names []string
	for _, command := range root.Commands() {
		if _, isKube := ownFlags(command); !isKube && !command.HasSubCommands() && isDocumented(command) {
			names = append(names, "`"+command.Name()+"`")
		}
	}
	return names
}

// isDocumented reports whether the reference documentation has a section for a command.
func isDocumented(command *cobra.Command) bool { return !command.Hidden && command.Name() != "help" }

// indentedBlock matches an indented example in a description. The page has such an example in a code block.
var indentedBlock = regexp.MustCompile(`(?m)(?:^ {4}.*\n)+`)

// describeCommand writes the section of a command: its usage, its description, its examples and its flags.
func describeCommand(b *strings.Builder, command *cobra.Command) {
	long := command.Long
	if long == "" {
		long = command.Short + "."
	}
	long = indentedBlock.ReplaceAllStringFunc(long, func(block string) string {
		return "```yaml" + strings.ReplaceAll("\n"+block, "\n    ", "\n") + "```\n"
	})
	fmt.Fprintf(b, "\n## %s\n\n`kubectl vectorsidecar %s`\n\n%s\n", command.Name(), command.Use, long)
	if command.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", command.Example)
	}
	flags, _ := ownFlags(command)
	if len(flags) > 0 {
		b.WriteString("\n| Flag | Default | Meaning |\n|---|---|---|\n")
	}
	for _, flag := range flags {
		name := "`--" + flag.Name + "`"
		if flag.Shorthand != "" {
			name = "`-" + flag.Shorthand + "`, " + name
		}
		standard := flag.DefValue
		if standard == "[]" || standard == "false" {
			standard = ""
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, standard, flag.Usage)
	}
}

// ownFlags returns the flags of a command without the flags of kubectl. isKube reports whether the command also has the
// flags of kubectl.
func ownFlags(command *cobra.Command) (flags []*pflag.Flag, isKube bool) {
	kube := kubeFlags()
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		switch {
		case kube.Lookup(flag.Name) != nil:
			isKube = true
		case flag.Name != "help" && !flag.Hidden:
			flags = append(flags, flag)
		}
	})
	return flags, isKube
}

// kubeFlags returns the flags of kubectl that select a cluster and a namespace.
func kubeFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	genericclioptions.NewConfigFlags(true).AddFlags(flags)
	return flags
}
