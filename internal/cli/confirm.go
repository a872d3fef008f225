// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// confirm asks a question on a terminal. Without a terminal, it returns an error with the consequence and a hint to use
// --yes. If the user does not answer yes, it returns the text declined as error.
func (a *app) confirm(question, consequence, declined string) error {
	if !isTerminal(a.ErrOut) {
		return errors.New(consequence + "; confirm with --yes, or preview with --dry-run")
	}
	_ = humanize.Fprintf(a.ErrOut, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && answer == "" {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New(declined)
	}
	return nil
}
