// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

const (
	indent = "   "
	narrow = 80 // columns, where the terminal does not say
)

type color string

const (
	bold  color = "1"
	faint color = "2"
	red   color = "31"
	green color = "32"
	cyan  color = "36"
)

// screen writes for a user: with color and an animated progress line on a terminal, otherwise in plain lines.
type screen struct {
	isTerminal, isColored bool
	width                 int // of the terminal

	mu       sync.Mutex
	out      io.Writer
	progress string // the progress line that is on the terminal now, if any
}

func newScreen(out *os.File) *screen {
	isTerminal := term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil || width < narrow {
		width = narrow
	}
	return &screen{out: out, width: width, isTerminal: isTerminal, isColored: isTerminal && os.Getenv("NO_COLOR") == ""}
}

func (s *screen) paint(c color, text string) string {
	if !s.isColored {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// print writes whole lines, above the progress line.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress != "" {
		s.progress = ""
		_, _ = io.WriteString(s.out, "\r\x1b[K")
	}
	_, _ = io.WriteString(s.out, text+"\n")
}

func (s *screen) title(text string) { s.print("\n" + s.paint(bold, text) + "\n") }

func (s *screen) heading(number int, text string) {
	s.print("\n" + s.paint(bold, fmt.Sprintf("%d. %s", number, text)))
}

func (s *screen) line(format string, args ...any) { s.print(indent + fmt.Sprintf(format, args...)) }

// ok reports a successful check.
func (s *screen) ok(format string, args ...any) {
	s.line("%s %s", s.paint(green, "ok"), fmt.Sprintf(format, args...))
}

// command shows a command as a user types it.
func (s *screen) command(words ...string) {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	s.line("%s", s.paint(cyan, "$ "+strings.Join(quoted, " ")))
}

// block shows the output of a program.
func (s *screen) block(text string) {
	for line := range strings.Lines(text) {
		s.print(strings.TrimRight(indent+line, "\n "))
	}
}

// lines calls a function for each written line.
type lines func(string)

func (l lines) Write(text []byte) (int, error) {
	l(string(text))
	return len(text), nil
}

// shellWord quotes a word for a shell.
func shellWord(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`{}[]()*?<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
