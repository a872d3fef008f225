// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"
)

// frames make the progress line move.
var frames = [...]string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}

const frameTime = 100 * time.Millisecond

// progress shows what the demo waits for: on a terminal in one animated line that disappears, otherwise in a line
// for each text.
type progress struct {
	screen *screen
	said   chan string
	ended  chan struct{}
}

// working starts a progress line. Only one may exist at a time.
func (s *screen) working(text string) *progress {
	p := &progress{screen: s, said: make(chan string), ended: make(chan struct{})}
	go p.move()
	p.say(text)
	return p
}

func (p *progress) say(text string) { p.said <- text }

func (p *progress) end() {
	close(p.said)
	<-p.ended
}

func (p *progress) move() {
	defer close(p.ended)
	ticker := time.NewTicker(frameTime)
	defer ticker.Stop()
	text, began := "", time.Now()
	for frame := 0; ; frame++ {
		select {
		case now, more := <-p.said:
			if !more {
				p.draw("")
				return
			}
			if now != text && !p.screen.isTerminal {
				p.screen.line("... %s", now)
			}
			text, began = now, time.Now()
		case <-ticker.C:
		}
		if !p.screen.isTerminal {
			continue
		}
		p.draw(p.screen.paint(cyan, frames[frame%len(frames)]) + " " + p.fit(text+since(began)))
	}
}

// since returns a text about the elapsed time if it is long.
func since(began time.Time) string {
	if time.Since(began) < time.Second {
		return ""
	}
	return fmt.Sprintf(" (%.0f s)", time.Since(began).Seconds())
}

// fit shortens a text so that it does not wrap, because a second line would not disappear.
func (p *progress) fit(text string) string {
	room := p.screen.width - len(indent) - len("x …")
	if runes := []rune(text); len(runes) > room {
		return string(runes[:room]) + "…"
	}
	return text
}

// draw replaces the progress line with a text, on a terminal.
func (p *progress) draw(text string) {
	s := p.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isTerminal || (text == "" && s.progress == "") {
		return
	}
	s.progress = text
	line := "\r\x1b[K"
	if text != "" {
		line += indent + text
	}
	_, _ = io.WriteString(s.out, line)
}
