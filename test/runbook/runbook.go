// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package runbook reads the commands in docs/runbooks for the tests that run them.
package runbook

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Command is a command of a runbook.
type Command struct {
	// Alert is the name of the page and its alert.
	Alert string
	Text  string
	// Output has the lines that the page shows below the command. "…" stands for any text, a line of its own for any lines.
	Output []string
}

// blocks finds the code blocks of a page.
var blocks = regexp.MustCompile("(?ms)^( *)```(sh|text)\n(.*?)\n *```$")

// Read returns the commands of all runbooks in a repository, in the order of the pages.
func Read(root string) ([]Command, error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "runbooks", "VectorSidecar*.md"))
	if err != nil {
		return nil, err
	}
	var commands []Command
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		ofPage, err := Parse(strings.TrimSuffix(filepath.Base(page), ".md"), string(text))
		if err != nil {
			return nil, err
		}
		commands = append(commands, ofPage...)
	}
	return commands, nil
}

// Parse returns the commands of one page, on which blocks of one command and blocks of its output alternate.
func Parse(name, text string) ([]Command, error) {
	var commands []Command
	hasOutput := true
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		var lines []string
		for line := range strings.SplitSeq(block[3], "\n") {
			lines = append(lines, strings.TrimPrefix(line, block[1]))
		}
		switch {
		case block[2] == "sh" && hasOutput && len(lines) == 1:
			commands = append(commands, Command{Alert: name, Text: lines[0]})
		case block[2] == "text" && !hasOutput:
			commands[len(commands)-1].Output = lines
		default:
			return nil, fmt.Errorf("%s: a block with one command and a block with its output must alternate: %q", name, block[3])
		}
		hasOutput = block[2] == "text"
	}
	if !hasOutput {
		return nil, fmt.Errorf("%s: the last command has no output", name)
	}
	return commands, nil
}

// NeedsNode reports whether the command needs containers that run or restart, or a webhook that the API server can call.
func (c *Command) NeedsNode() bool {
	return strings.HasPrefix(c.Text, "kubectl logs ") || strings.HasPrefix(c.Text, "kubectl delete lease ") ||
		strings.HasPrefix(c.Alert, "VectorSidecarAdmission")
}

// Test returns the test that runs the command.
func (c *Command) Test() string {
	if c.NeedsNode() {
		return "test/node/product.TestProduct_RunsCommandsOfRunbooks"
	}
	return "test/docs.TestDocs_RunCommandsOfRunbooks"
}

// Fill returns the text with names of a cluster instead of words in capital letters, such as NAMESPACE.
func (c *Command) Fill(names map[string]string) string {
	text := c.Text
	for word, name := range names {
		text = regexp.MustCompile(`\b`+word+`\b`).ReplaceAllLiteralString(text, name)
	}
	return text
}

// Check returns an error if the printed text does not have the lines of the page, in their order.
func (c *Command) Check(printed string) error {
	rest := strings.Split(printed, "\n")
	for _, line := range c.Output {
		if line == "…" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$")
		i := 0
		for i < len(rest) && !pattern.MatchString(strings.TrimRight(rest[i], " ")) {
			i++
		}
		if i == len(rest) {
			return fmt.Errorf("%s: %s: the output has no line %q:\n%s", c.Alert, c.Text, line, printed)
		}
		rest = rest[i+1:]
	}
	return nil
}
