// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// findingsOutput prints the findings of a command in the format that -o selects.
type findingsOutput struct {
	app    *app
	output *format
	// command is the name of the command that has found the findings, and noun the name of the objects that it checks.
	command, noun string
}

// newFindingsOutput adds the flag -o to a command that prints findings. noun is the name of the objects that the
// command checks.
func newFindingsOutput(a *app, command *cobra.Command, noun string) findingsOutput {
	return findingsOutput{a, addFormat(command, "github", "sarif", "junit", "json"), "kubectl vectorsidecar " + command.Name(), noun}
}

// print writes findings in the format that -o selects.
func (o *findingsOutput) print(result *lint.Result) error {
	if o.output.name == "json" {
		return o.output.print(o.app.Out, result)
	}
	for _, skipped := range result.Skipped {
		o.app.printNote("skipped %s: %s", skipped.File, skipped.Reason)
	}
	for _, note := range result.Notes {
		o.app.printNote("%s:%d: %s", note.File, note.Line, note.Text)
	}
	switch o.output.name {
	case "junit":
		return printJUnit(o.app.Out, o.command, o.junitCases(result))
	case "sarif":
		return o.output.print(o.app.Out, newSarif(result, o.command, o.app.version))
	case "github":
		return o.printCommands(result)
	}
	return o.printText(result)
}

// printText writes findings as text for people.
func (o *findingsOutput) printText(result *lint.Result) error {
	paint := painterFor(o.app.Out)
	for i := range result.Findings {
		finding := &result.Findings[i]
		color := red
		if finding.Level != string(meta.Error) {
			color = yellow
		}
		err := errors.Join(
			humanize.Fprintf(o.app.Out, "%s: ", finding.Position()), paint.paint(color, finding.Level),
			humanize.Fprintf(o.app.Out, " %s: %s\n    %s\n", finding.Code, finding.Text(), finding.Help))
		if err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s checked, %s", countNoun(result.Linted, o.noun), countNoun(len(result.Findings), "finding"))
	if n := len(result.Ignored); n > 0 {
		text += fmt.Sprintf(", %d ignored", n)
	}
	o.app.printNote("%s", text)
	return nil
}

// printCommands writes findings as workflow commands, so that GitHub shows them next to the lines of a change.
func (o *findingsOutput) printCommands(result *lint.Result) error {
	for i := range result.Findings {
		finding := &result.Findings[i]
		command := "warning"
		if finding.Level == string(meta.Error) {
			command = "error"
		}
		properties := "file=" + escapeAnnotationProperty(finding.File)
		if finding.Line > 0 {
			properties += fmt.Sprintf(",line=%d", finding.Line)
		}
		if finding.Column > 0 {
			properties += fmt.Sprintf(",col=%d", finding.Column)
		}
		line := fmt.Sprintf("::%s %s,title=%s::%s\n", command, properties, escapeAnnotationProperty(finding.Code), escapeAnnotationMessage(finding.Text()+"; "+finding.Help))
		if err := writeControl(o.app.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// escapeAnnotationMessage escapes untrusted text for the message of a command.
func escapeAnnotationMessage(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(humanize.Escape(text))
}

// escapeAnnotationProperty escapes untrusted text for a property of a command.
func escapeAnnotationProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeAnnotationMessage(text))
}
