// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Process is an operator that runs as a process of its own, as in a pod.
type Process struct {
	// Metrics and Health are the addresses that it serves.
	Metrics, Health string
	// IsConfined tells that the kernel ends it beyond the limit of its memory, and not
	// beyond some more.
	IsConfined bool

	cmd   *exec.Cmd
	log   *transcript
	ended chan struct{}
}

// Settings are what a Process is started with, beside what it always needs.
type Settings struct {
	// Command is a command of the program, such as uninstall, which serves nothing; "" for the operator.
	Command   string
	Arguments []string
	// Environment variables, each NAME=value.
	Environment []string
	// MemoryLimit is that of its container in bytes; 0 for none.
	MemoryLimit int64
}

// BuildOperator builds the operator's program into a folder, as the Makefile builds
// what is shipped, and returns its path. The variable OPERATOR names one that make has
// built already.
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

// StartProcess starts the program against the cluster of a kubeconfig. It is killed
// with the test, if it still runs.
func StartProcess(t testing.TB, program, kubeconfig string, settings Settings) *Process {
	t.Helper()
	p := &Process{Metrics: freeAddress(t), Health: freeAddress(t), log: &transcript{}, ended: make(chan struct{})}
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

// Kill ends it at once, if it still runs.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // It may have ended.
	<-p.ended
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended is closed when it has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode is that of a process that has ended.
func (p *Process) ExitCode() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// Used is the processor time of a process that has ended.
func (p *Process) Used() time.Duration {
	<-p.ended
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// MostMemory is the largest resident memory of a process that has ended, in bytes.
func (p *Process) MostMemory() int64 {
	<-p.ended
	usage, isUsage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !isUsage {
		return 0
	}
	return usage.Maxrss << 10
}

// Lines are the lines of its log so far. One that is no JSON object fails the test.
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

// Said are the lines of its log so far with a message.
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

// freeAddress finds an address on the loopback that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	return freeAddressAt(t, "127.0.0.1")
}

// freeAddressAt finds a port of an address of the loopback that nobody listens on.
func freeAddressAt(t testing.TB, host string) string {
	t.Helper()
	address, err := FreeAddressOf(host)
	require.NoError(t, err)
	return address
}

// FreeAddress finds an address on the loopback that nobody listens on.
func FreeAddress() (string, error) { return FreeAddressOf("127.0.0.1") }

// given are the addresses that were handed out: the kernel may name one again that nobody
// listens at yet.
var given sync.Map

// FreeAddressOf finds a port of an address of the machine that nobody listens on.
func FreeAddressOf(host string) (string, error) {
	for {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return "", fmt.Errorf("finding a free address: %w", err)
		}
		address := listener.Addr().String()
		if err := listener.Close(); err != nil {
			return "", fmt.Errorf("finding a free address: %w", err)
		}
		if _, isGiven := given.LoadOrStore(address, true); !isGiven {
			return address, nil
		}
	}
}
