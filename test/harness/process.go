// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

// Process is an operator in a separate process, as in a pod.
type Process struct {
	// Metrics and Health are the addresses of the metrics and the probes.
	Metrics, Health string
	// IsConfined is true if the kernel ends the process exactly at its memory limit.
	IsConfined bool

	cmd   *exec.Cmd
	log   *transcript
	ended chan struct{}
}

// Settings are the settings of a Process, in addition to required ones.
type Settings struct {
	// Command is a command of the program, such as uninstall, which has no server; empty means the operator.
	Command   string
	Arguments []string
	// Environment variables, each NAME=value.
	Environment []string
	// MemoryLimit is the memory limit of the container in bytes; 0 means no limit.
	MemoryLimit int64
}

// BuildOperator builds the operator into a directory as the Makefile does, and returns the path. The variable
// OPERATOR names one that make has already built.
func BuildOperator(ctx context.Context, folder string) (string, error) {
	if built := os.Getenv("OPERATOR"); built != "" {
		return built, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "make", "build", "BIN="+folder, "PROGRAMS=./cmd/operator")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	return filepath.Join(folder, "operator"), nil
}

// StartProcess starts the program with a kubeconfig. The end of the test kills it.
func StartProcess(t testing.TB, program, kubeconfig string, settings Settings) *Process {
	t.Helper()
	p := &Process{Metrics: freeport.ForTest(t), Health: freeport.ForTest(t), log: &transcript{}, ended: make(chan struct{})}
	arguments := append([]string{"--metrics-bind-address=" + p.Metrics, "--health-probe-bind-address=" + p.Health}, settings.Arguments...)
	if settings.Command != "" {
		arguments = append([]string{settings.Command}, settings.Arguments...)
	}
	p.cmd = exec.Command(program, arguments...)
	p.cmd.Env = append([]string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "GOGC=50"}, settings.Environment...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	release := func() {}
	if settings.MemoryLimit > 0 {
		release, p.IsConfined = confine(p.cmd, settings.MemoryLimit)
	}
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // Its state tells how it ended.
		release()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of operator %d:\n%s", p.cmd.Process.Pid, p.log)
		}
	})
	return p
}

// Signal sends it a signal.
func (p *Process) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(signal))
}

// Kill kills the process if it still runs.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // It may have ended.
	<-p.ended
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode returns the exit code after the process has ended.
func (p *Process) ExitCode() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// Used returns the CPU time of a process that has ended.
func (p *Process) Used() time.Duration {
	<-p.ended
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// MostMemory returns the maximum resident memory of a process that has ended, in bytes.
func (p *Process) MostMemory() int64 {
	<-p.ended
	usage, isUsage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !isUsage {
		return 0
	}
	return usage.Maxrss << 10
}

// Lines returns the lines of the log so far. The test fails if a line is not a JSON object.
func (p *Process) Lines(t testing.TB) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range bytes.Lines(p.log.bytes()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // It is being written.
		}
		var read map[string]any
		require.NoError(t, json.Unmarshal(line, &read), "not a JSON object: %s", line)
		all = append(all, read)
	}
	return all
}

// Said returns the lines of the log so far that have a message.
func (p *Process) Said(t testing.TB, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, line := range p.Lines(t) {
		if line["msg"] == message {
			found = append(found, line)
		}
	}
	return found
}

// transcript is a log that may be read while it is written.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (l *transcript) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *transcript) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text.Bytes())
}

// String is the log so far.
func (l *transcript) String() string { return string(l.bytes()) }
