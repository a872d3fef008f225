// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// license is the header of every generated page.
const license = `<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->

`

// newDocs returns the command docs.
func newDocs(a *app) *cobra.Command {
	topics := map[string]func(*cobra.Command) (string, error){
		"reasons": func(*cobra.Command) (string, error) { return reasonsPage(), nil },
		"values":  func(*cobra.Command) (string, error) { return valuesPage(a.chart) },
		"cli":     func(command *cobra.Command) (string, error) { return manualPage(command.Root()), nil },
	}
	names := slices.Sorted(maps.Keys(topics))
	return &cobra.Command{
		Use:   "docs TOPIC",
		Short: "Print the reference of values, of reasons and findings, or of this program",
		Long: `Print a reference as Markdown: values, reasons (with the findings of lint), or cli. With a reason or
the code of a finding, print its meaning and the fix.`,
		Example: `# all values that a sidecar is rendered from
kubectl vectorsidecar docs values
# the meaning of a reason
kubectl vectorsidecar docs WaitingForSlot`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(command *cobra.Command, arguments []string) error {
			topic, ok := topics[arguments[0]]
			if !ok {
				return explainReason(command, arguments[0], names)
			}
			text, err := topic(command)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.Out, text)
			return err
		},
	}
}

// explainReason prints the entry of a reason or code in the catalog. topics are the other arguments that the command
// accepts, for the error about an unknown word.
func explainReason(command *cobra.Command, word string, topics []string) error {
	if rule, isKnown := lint.RuleFor(word); isKnown {
		_, err := fmt.Fprintf(command.OutOrStdout(), "%s (%s)\n  %s\n  what to do: %s\n", rule.Code, rule.Level, rule.Title, rule.Help)
		return err
	}
	words := topics
	for _, reason := range meta.Reasons() {
		words = append(words, reason.Name)
	}
	for _, rule := range lint.Rules() {
		words = append(words, rule.Code)
	}
	text := fmt.Sprintf("unknown topic, reason or code %q", word)
	if len(topics) == 0 {
		text = fmt.Sprintf("unknown reason or code %q", word)
	}
	if near := humanize.Nearest(word, words); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	if len(topics) == 0 {
		return errors.New(text)
	}
	return fmt.Errorf("%s; topics are %s", text, strings.Join(topics, ", "))
}

// explainCodes prints the entries of several codes in the catalog.
func explainCodes(command *cobra.Command, codes []string) error {
	for _, code := range codes {
		if err := explainReason(command, code, nil); err != nil {
			return err
		}
	}
	return nil
}

// reasonsPage returns docs/reference/reasons.md.
func reasonsPage() string {
	var b strings.Builder
	b.WriteString(license + `# Reasons and findings

Written by ` + "`make generate`" + ` from the catalog in the code. ` + "`kubectl vectorsidecar docs WORD`" + ` prints one of its lines.

### Condition reasons

Reasons in the conditions of a VectorSidecar, in its ` + "`status.workloads`" + `, in events, and in the output of the kubectl plugin.

| Reason | Level | On | Meaning | What to do |
|---|---|---|---|---|
`)
	for _, reason := range meta.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", reason.Name, reason.Level, reason.Location, reason.Meaning, reason.Help)
	}
	b.WriteString(controllerReasonsSection())
	b.WriteString("\n### Codes of lint\n\n`kubectl vectorsidecar lint` finds these, the reasons above that are errors of the input, and those\nof [Vector's configuration](vector-config.md#rules).\n\n| Code | Level | Meaning | What to do |\n|---|---|---|---|\n")
	for _, rule := range lint.OwnRules() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", rule.Code, rule.Level, rule.Title, rule.Help)
	}
	return b.String()
}

// controllerReasonsSection returns the table of reasons that workload controllers set.
func controllerReasonsSection() string {
	var b strings.Builder
	b.WriteString(`
### Reasons of controllers

Reasons that the controllers of workloads set in conditions, and in warning events for kinds without conditions. *On*
is the type of the condition, or *event*. The status quotes the message of the controller with the reason in *Reported as*. Warning events are read with ` + "`rbac.optional.pods`" + `.

| Kind | On | Reason | Reported as | Note |
|---|---|---|---|---|
`)
	for _, kind := range workload.Kinds() {
		for _, reason := range kind.Reasons {
			name, reported := "`"+reason.Reason+"`", "`"+reason.Reported+"`"
			if reason.Reason == "" {
				name = "none"
			}
			if reason.Reported == "" {
				reported = "not read"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", kind.Kind, cmp.Or(reason.Condition, "event"), name, reported, reason.Note)
		}
	}
	return b.String()
}

// valuesPage returns the reference of a sidecar chart's values.
func valuesPage(chart fs.FS) (string, error) {
	rows, err := referenceRows(chart)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(license + "# Values\n\nSettings of a values file and of `spec` of a VectorSidecar.\n\n| Value | Type | Default | Meaning |\n|---|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", row.path, row.kind, row.standard, row.meaning)
	}
	return b.String(), nil
}
