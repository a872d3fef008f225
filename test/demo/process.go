// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const stopTimeout = 15 * time.Second // longer than the operator's own grace period

// process is the running operator. It is stopped by its process id. If the demo is killed, the control plane ends,
// so the operator loses its Lease and ends.
type process struct {
	log   string // path of what it prints
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // how it ended; read after ended
}

// startProcess runs a program with only the given environment.
func startProcess(path string, args, environment []string, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the operator's log: %w", err)
	}
	defer file.Close() // The child has a descriptor of its own.
	p := &process{log: log, ended: make(chan struct{}), cmd: exec.Command(path, args...)}
	p.cmd.Env = environment
	p.cmd.Stdout, p.cmd.Stderr = file, file
	// Ctrl-C in a terminal must not reach the operator before the steps have ended.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// end returns the exit error of the operator after it has ended.
func (p *process) end() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// stop sends a signal to stop, and returns an error unless the operator exits gracefully. A second call does
// nothing.
func (p *process) stop() error {
	if p.hasEnded() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the operator: %w", err)
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		err := p.cmd.Process.Kill()
		<-p.ended
		return errors.Join(mismatch{"operator process", "an end within " + stopTimeout.String() + " of SIGTERM", "it was still running"}, err)
	}
	if p.err != nil {
		return mismatch{"operator process", "exit status 0 after SIGTERM", p.err.Error()}
	}
	return nil
}

// lastLines returns the last lines of a log file.
func lastLines(path string, count int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n") + "\n"
}
