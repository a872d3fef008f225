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

// process is the running operator. It is ended by its process id. Were this
// program killed, the operator would lose its lease with the control plane and end.
type process struct {
	log   string // path of what it prints
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // how it ended; read after ended
}

// startProcess runs a program with nothing but the given environment.
func startProcess(path string, args, environment []string, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the operator's log: %w", err)
	}
	defer file.Close() // The child has a descriptor of its own.
	p := &process{log: log, ended: make(chan struct{}), cmd: exec.Command(path, args...)}
	p.cmd.Env = environment
	p.cmd.Stdout, p.cmd.Stderr = file, file
	// Ctrl-C in a terminal must not reach it before the steps have ended.
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

// end tells how the operator ended, once it has.
func (p *process) end() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// stop asks the operator to end, and is an error unless it does so in order. A
// second call does nothing.
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

// lastLines is the end of a log file.
func lastLines(path string, count int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n") + "\n"
}
