// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shownOutput is a text block and the commands of the sh block above it.
type shownOutput struct {
	fence
	commands []string
}

// lines returns the shown lines without the marks of omitted lines.
func (o *shownOutput) lines() []string {
	return slices.DeleteFunc(strings.Split(o.text, "\n"), func(line string) bool { return line == "…" })
}

// shownOutputs returns the text blocks of all pages except tutorials.
func shownOutputs(t *testing.T) []shownOutput {
	t.Helper()
	var outputs []shownOutput
	for _, p := range pages(t) {
		for i, f := range p.fences {
			if f.language != "text" || isTutorial(f.page) {
				continue
			}
			require.True(t, i > 0 && p.fences[i-1].language == "sh", "%s: the block above is not of commands", f.at())
			outputs = append(outputs, shownOutput{fence: f, commands: p.fences[i-1].commands()})
		}
	}
	return outputs
}

// requireShownOutput compares the text blocks with the output of their commands. It skips blocks whose commands did not run.
func requireShownOutput(t *testing.T, printed map[string]string) {
	t.Helper()
	for _, output := range shownOutputs(t) {
		var text strings.Builder
		count := 0
		for _, command := range output.commands {
			if commandOutput, ok := printed[command]; ok {
				text.WriteString(commandOutput)
				count++
			}
		}
		if count == len(output.commands) {
			requireInOrder(t, output.lines(), text.String())
		}
	}
}

// Each text block on a page is the output of commands that a test runs, or of the demo.
func TestDocs_ShowCheckedOutput(t *testing.T) {
	inSession := map[string]bool{}
	for _, step := range session {
		inSession[step.command] = true
	}
	outputs := shownOutputs(t)
	require.NotEmpty(t, outputs)
	for _, output := range outputs {
		if slices.Equal(output.commands, []string{"make demo"}) {
			requireInOrder(t, output.lines(), demoHeadings(t))
			continue
		}
		isInSession := slices.ContainsFunc(output.commands, func(command string) bool { return inSession[command] })
		for _, command := range output.commands {
			isCompared := inSession[command]
			if !isInSession {
				_, isCompared = offline[command]
			}
			require.True(t, isCompared, "%s: no test compares the output of %q", output.at(), command)
		}
	}
}

// demoHeadings returns the headings that the demo prints on simulated nodes, one per line.
func demoHeadings(t *testing.T) string {
	t.Helper()
	code, err := os.ReadFile(filepath.Join(root, "test", "demo", "demo.go"))
	require.NoError(t, err)
	_, steps, found := strings.Cut(string(code), "\nfunc steps() []step {\n")
	require.True(t, found)
	steps, _, _ = strings.Cut(steps, "\n}\n")
	var headings strings.Builder
	for i, match := range regexp.MustCompile(`\{"([^"]+)", `).FindAllStringSubmatch(steps, -1) {
		fmt.Fprintf(&headings, "%d. %s\n", i+1, match[1])
	}
	return headings.String()
}
