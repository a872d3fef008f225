// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
)

// barWidth is the width of the progress bar on a terminal.
const barWidth = 30

// progress prints the progress of eject: as a bar on a terminal, and otherwise as a line for each workload.
type progress struct {
	writer io.Writer
	isBar  bool
	drawn  bool
}

// newProgress returns a progress that is printed to w, as a bar on a terminal.
func newProgress(w io.Writer) *progress { return &progress{writer: w, isBar: isTerminal(w)} }

// showStep prints that a workload has lost its sidecars, or the error.
func (p *progress) showStep(step removal.Step) {
	target := fmt.Sprintf("%s %s/%s", step.Workload.Kind, step.Workload.Namespace, step.Workload.Name)
	if step.Err != nil {
		p.clearLine()
		_ = humanize.Fprintf(p.writer, "%s: %v\n", target, step.Err)
	}
	if !p.isBar {
		_ = humanize.Fprintf(p.writer, "%d of %d: %s\n", step.Finished, step.Total, target)
		return
	}
	full := barWidth * step.Finished / step.Total
	_ = writeControl(p.writer, "\r\x1b[K")
	_ = humanize.Fprintf(p.writer, "[%s%s] %d of %d %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), step.Finished, step.Total, target)
	p.drawn = true
}

// clearLine ends the line of the bar.
func (p *progress) clearLine() {
	if p.drawn {
		fmt.Fprintln(p.writer)
		p.drawn = false
	}
}
