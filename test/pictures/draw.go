// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package pictures draws recorded output of commands as pictures of a terminal for the pages: recorded/NAME.txt becomes
// docs/pictures/NAME.svg. make pictures records and draws.
package pictures

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	columns    = 124 // of the terminal; longer lines continue on the next one
	fontSize   = 14
	charWidth  = 8.5 // of the widest usual font
	lineHeight = 19
	margin     = 16
)

// style has colors for readers who prefer light or dark pages. The font is one of the reader's system, so the picture
// loads no other file.
const style = `
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328; }
  rect { fill: #f6f8fa; stroke: #d0d7de; }
  .command { font-weight: bold; fill: #0550ae; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    rect { fill: #161b22; stroke: #30363d; }
    .command { fill: #79c0ff; }
  }
`

// draw returns the picture of a recording. Lines with a prompt ("$ ") are commands. A text reader reads the title, which
// is the first command.
func draw(recording string) []byte {
	lines, title := wrapped(recording), strings.TrimPrefix(strings.SplitN(recording, "\n", 2)[0], "$ ")
	longest := 0
	for _, shown := range lines {
		longest = max(longest, utf8.RuneCountInString(shown.text))
	}
	width, height := 2*margin+int(float64(longest)*charWidth), 2*margin+lineHeight*len(lines)
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
Drawn by make pictures.
-->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">
<title>%[3]s</title>
<style>%[4]s</style>
<rect x="0.5" y="0.5" width="%[5]d" height="%[6]d" rx="8"/>
`, width, height, escaped(title), style, width-1, height-1)
	isCommand := false
	for i, shown := range lines {
		class := ""
		if isCommand = strings.HasPrefix(shown.text, "$ ") || isCommand && shown.isContinued; isCommand {
			class = ` class="command"`
		}
		fmt.Fprintf(&svg, "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\"%s>%s</text>\n", margin, margin+fontSize+lineHeight*i, class, escaped(shown.text))
	}
	svg.WriteString("</svg>\n")
	return svg.Bytes()
}

// line is a line of the terminal.
type line struct {
	text string
	// isContinued reports whether the line continues the previous one.
	isContinued bool
}

// wrapped returns the lines of a recording as the terminal shows them.
func wrapped(recording string) []line {
	var lines []line
	for text := range strings.SplitSeq(strings.TrimRight(recording, "\n"), "\n") {
		rest := []rune(text)
		for isContinued := false; ; isContinued = true {
			end := min(len(rest), columns)
			lines = append(lines, line{string(rest[:end]), isContinued})
			if rest = rest[end:]; len(rest) == 0 {
				break
			}
		}
	}
	return lines
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // A builder accepts every write.
	return b.String()
}
