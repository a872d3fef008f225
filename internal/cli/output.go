// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/printers"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// printNote prints a message for people to standard error.
func (a *app) printNote(format string, arguments ...any) {
	_ = humanize.Fprintf(a.ErrOut, format+"\n", arguments...)
}

// isTerminal reports whether output goes to a terminal.
func isTerminal(w io.Writer) bool {
	if guarded, ok := w.(*humanize.Writer); ok {
		w = guarded.Unwrap()
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// writeControl writes a terminal control sequence.
func writeControl(w io.Writer, sequence string) error {
	if guarded, ok := w.(*humanize.Writer); ok {
		return guarded.WriteControl(sequence)
	}
	return nil // The output is not a terminal.
}

// Colors for terminals.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// painter colors text on a terminal, unless NO_COLOR is set.
type painter struct {
	writer io.Writer
	isOn   bool
}

// painterFor returns the painter for an output. It uses colors only on a terminal, and not if NO_COLOR is set.
func painterFor(w io.Writer) painter {
	return painter{w, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)}
}

// paint writes a text in a color.
func (p painter) paint(color, text string) error {
	if !p.isOn || text == "" {
		_, err := io.WriteString(p.writer, text)
		return err
	}
	startErr := writeControl(p.writer, "\x1b["+color+"m")
	_, err := io.WriteString(p.writer, text)
	return errors.Join(startErr, err, writeControl(p.writer, "\x1b[0m"))
}

// format is the output format that -o selects.
type format struct {
	name    string
	allowed []string
}

// addFormat adds -o to a command. The default text format has no name.
func addFormat(command *cobra.Command, allowed ...string) *format {
	f := &format{allowed: allowed}
	command.Flags().StringVarP(&f.name, "output", "o", "", "output format: "+strings.Join(allowed, ", "))
	err := command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // The flag is defined above.
	}
	return f
}

// check returns an error if -o does not have one of the allowed formats.
func (f *format) check() error {
	if f.name != "" && !slices.Contains(f.allowed, f.name) {
		return fmt.Errorf("--output is %q: it must be one of %s", f.name, strings.Join(f.allowed, ", "))
	}
	return nil
}

// isTree reports whether the output is JSON or YAML.
func (f *format) isTree() bool { return f.name == "json" || f.name == "yaml" }

// print writes data as JSON or YAML.
func (f *format) print(w io.Writer, content any) error {
	marshal := func(content any) ([]byte, error) {
		text, err := json.MarshalIndent(content, "", "  ")
		return humanize.EscapeJSON(append(text, '\n')), err
	}
	if f.name == "yaml" {
		marshal = humanize.MarshalYAML
	}
	text, err := marshal(content)
	if err != nil {
		return fmt.Errorf("printing the output: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// printTable prints rows in columns, as kubectl does. Each cell is one line.
func printTable(writer io.Writer, header []string, rows [][]string) error {
	w := printers.GetNewTabWriter(writer)
	for _, row := range slices.Concat([][]string{header}, rows) {
		if len(row) == 0 {
			continue
		}
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = humanize.EscapeLine(cell)
		}
		if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// countNoun returns a number with its noun.
func countNoun(n int, singular string) string {
	if n == 1 {
		return "1 " + singular
	}
	if strings.HasSuffix(singular, "ch") {
		singular += "e"
	}
	return fmt.Sprintf("%d %ss", n, singular)
}

// isNoMatch reports whether a request failed because the API server does not have the kind.
func isNoMatch(err error) bool {
	var noKind *apimeta.NoKindMatchError
	var noResource *apimeta.NoResourceMatchError
	return errors.As(err, &noKind) || errors.As(err, &noResource)
}
