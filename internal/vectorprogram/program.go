// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectorprogram runs a local Vector binary on rendered configurations, with the checks that the validation
// Job runs with the Vector of the image. It returns findings and the results of unit tests. Only the kubectl plugin
// uses it, because the operator starts no processes.
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
	// timeout is the default of Program.Timeout.
	timeout = 30 * time.Second
	// mostPrinted is the limit for the output of Vector, in bytes.
	mostPrinted = 1 << 20
	// shortest is the time limit for child processes that keep the output open after Vector has exited.
	shortest = time.Second
)

var (
	// errTooMuch and errTooLong are the reasons why Vector was killed.
	errTooMuch = errors.New("printed more than 1 MiB")
	errTooLong = errors.New("timed out")
)

// Program is a Vector binary on this machine.
type Program struct {
	// Version is the version that the binary reports, such as 0.57.0.
	Version string
	// Timeout is the time limit for one run.
	Timeout time.Duration

	path string
}

// versionLine matches the output of vector --version.
var versionLine = regexp.MustCompile(`^vector (\d+\.\d+\.\d+\S*)`)

// Open finds the binary at a path, or by its name in PATH, and returns an error if it is not Vector.
func Open(ctx context.Context, path string) (*Program, error) {
	executable, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("finding Vector: %w", err)
	}
	p := &Program{path: executable, Timeout: timeout}
	end, err := p.runVector(ctx, "", nil, "--version")
	if err != nil {
		return nil, err
	}
	match := versionLine.FindStringSubmatch(end.printed)
	if match == nil || end.code != 0 {
		return nil, fmt.Errorf("program %s is not Vector, because the command %s --version %s", path, path, end.outputText())
	}
	p.Version = match[1]
	return p, nil
}

// processResult describes how a run of Vector ended.
type processResult struct {
	// code is the exit code, or -1 if Vector was killed.
	code int
	// printed is the output, up to mostPrinted bytes.
	printed string
	// cause is the reason why Vector was killed, or the signal that ended the run; nil after a normal exit.
	cause error
}

// outputText describes the end of a run for a message: the exit code and the first line of the output, or the reason
// why Vector did not finish.
func (e *processResult) outputText() string {
	if e.cause != nil {
		return "did not finish: " + e.cause.Error()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(e.printed), "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return fmt.Sprintf("ended with code %d and printed %q", e.code, line)
}

// runVector runs Vector in a directory, with only the given environment variables. It returns an error if Vector could not
// be started.
func (p *Program) runVector(ctx context.Context, folder string, env []string, args ...string) (*processResult, error) {
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limited, cancel := context.WithTimeoutCause(limited, p.Timeout, errTooLong)
	defer cancel()
	buffer := &output{stop: func() { stop(errTooMuch) }}
	command := exec.CommandContext(limited, p.path, args...)
	command.Dir, command.Env, command.WaitDelay = folder, append([]string{}, env...), shortest
	command.Stdout, command.Stderr = buffer, buffer
	err := command.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case command.ProcessState == nil:
		return nil, fmt.Errorf("running %s: %w", p.path, err)
	}
	result := &processResult{code: command.ProcessState.ExitCode(), printed: buffer.String()}
	if cause := context.Cause(limited); cause != nil && result.code != 0 {
		result.code, result.cause = -1, cause
	} else if result.code < 0 {
		result.cause = errors.New(command.ProcessState.String())
	}
	return result, nil
}

// output keeps the first mostPrinted bytes of the output, and stops Vector if it prints more.
type output struct {
	strings.Builder

	stop func()
}

// Write implements io.Writer. It never returns an error.
func (o *output) Write(text []byte) (int, error) {
	if remaining := mostPrinted - o.Len(); len(text) > remaining {
		o.Builder.Write(text[:remaining])
		o.stop()
		return len(text), nil
	}
	return o.Builder.Write(text)
}
