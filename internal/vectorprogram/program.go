// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectorprogram asks a Vector that is a program of this machine about rendered
// configurations, as their validation Job would ask the one of the image. It is for the
// plugin; the operator starts no programs.
package vectorprogram

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

const (
	// patience is how long Vector may take for one answer.
	patience = 30 * time.Second
	// mostPrinted is how many bytes it may print.
	mostPrinted = 1 << 20
	// shortest is how long whoever holds on to the output may do so after its end.
	shortest = time.Second
)

var (
	errTooMuch = errors.New("it printed more than 1 MiB")
	errTooLong = errors.New("it gave no answer in time")
)

// Program is a Vector.
type Program struct {
	// Version is its own, such as 0.57.0.
	Version string
	// Patience is how long it may take for one answer.
	Patience time.Duration

	path string
}

var versionLine = regexp.MustCompile(`^vector (\d+\.\d+\.\d+\S*)`)

// Open looks whether a path, or a name in PATH, is a Vector.
func Open(ctx context.Context, path string) (*Program, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("finding Vector: %w", err)
	}
	p := &Program{path: found, Patience: patience}
	end, err := p.run(ctx, "", nil, "--version")
	if err != nil {
		return nil, err
	}
	match := versionLine.FindStringSubmatch(end.printed)
	if match == nil || end.code != 0 {
		return nil, fmt.Errorf("%s is no Vector: %s --version %s", path, path, end.text())
	}
	p.Version = match[1]
	return p, nil
}

// end is how the program ended.
type end struct {
	// code is the exit code, -1 if it was killed.
	code    int
	printed string
	// why it was killed or ended by a signal, nil if it was not.
	why error
}

// text says how it ended.
func (e *end) text() string {
	if e.why != nil {
		return "gave no answer: " + e.why.Error()
	}
	first, _, _ := strings.Cut(strings.TrimSpace(e.printed), "\n")
	if len(first) > 200 {
		first = first[:200] + "…"
	}
	return fmt.Sprintf("ended with code %d and printed %q", e.code, first)
}

// run runs it in a folder, with these variables and no others. The error says why it could
// not be started.
func (p *Program) run(ctx context.Context, folder string, env []string, args ...string) (*end, error) {
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limited, cancel := context.WithTimeoutCause(limited, p.Patience, errTooLong)
	defer cancel()
	out := &output{stop: func() { stop(errTooMuch) }}
	command := exec.CommandContext(limited, p.path, args...)
	command.Dir, command.Env, command.WaitDelay = folder, append([]string{}, env...), shortest
	command.Stdout, command.Stderr = out, out
	err := command.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case command.ProcessState == nil:
		return nil, fmt.Errorf("running %s: %w", p.path, err)
	}
	found := &end{code: command.ProcessState.ExitCode(), printed: out.String()}
	if cause := context.Cause(limited); cause != nil && found.code != 0 {
		found.code, found.why = -1, cause
	} else if found.code < 0 {
		found.why = errors.New(command.ProcessState.String())
	}
	return found, nil
}

// output keeps the beginning of what is printed, and stops who prints too much.
type output struct {
	strings.Builder

	stop func()
}

func (o *output) Write(text []byte) (int, error) {
	if rest := mostPrinted - o.Len(); len(text) > rest {
		o.Builder.Write(text[:rest])
		o.stop()
		return len(text), nil
	}
	return o.Builder.Write(text)
}
