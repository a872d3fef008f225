// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// launcher starts programs so that none outlives this process, however it ends.
//
// Each is started by a small script that notes its process id in a file. A guard
// process reads from a pipe that only this process holds open: when that ends
// without word, the guard ends every noted process. Unlike a parent-death signal
// this does not depend on the thread that started a program, works for the ones
// that envtest starts, and on every Unix.
type launcher struct {
	dir   string // of scripts and process ids
	guard *exec.Cmd
	word  io.WriteCloser
}

const guardScript = `
read -r word && exit 0
for file in "$1"/*.pid; do
  [ -f "$file" ] && kill -KILL "$(cat "$file")" 2>/dev/null
done
`

func newLauncher(dir string, binaries map[string]string) (*launcher, error) {
	l := &launcher{dir: filepath.Join(dir, "run")}
	for name, path := range binaries {
		if err := l.add(name, path); err != nil {
			return nil, err
		}
	}
	l.guard = exec.Command("/bin/sh", "-c", guardScript, "guard", l.dir)
	l.guard.SysProcAttr = ownGroup()
	word, err := l.guard.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the guard process: %w", err)
	}
	l.word = word
	if err := l.guard.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard process: %w", err)
	}
	return l, nil
}

// add writes the start script of a program.
func (l *launcher) add(name, path string) error {
	if err := os.WriteFile(l.path(name), []byte(l.script(name, path)), 0o700); err != nil {
		return fmt.Errorf("writing the start script of %s: %w", name, err)
	}
	return nil
}

// path returns the path of the script that runs the named program with its arguments.
func (l *launcher) path(name string) string { return filepath.Join(l.dir, name) }

func (l *launcher) pidFile(name string) string { return l.path(name) + ".pid" }

func (l *launcher) script(name, path string) string {
	// envtest first runs a program with --help; the id of that process is not recorded.
	return fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --help ] || echo $$ >%s\nexec %s \"$@\"\n", quote(l.pidFile(name)), quote(path))
}

// forget deletes the recorded process id of an ended program, because the system may reuse it.
func (l *launcher) forget(name string) error {
	if err := os.Remove(l.pidFile(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forgetting the process id of %s: %w", name, err)
	}
	return nil
}

// close stops the guard. All programs must have ended.
func (l *launcher) close() error {
	if l == nil || l.guard == nil {
		return nil
	}
	_, writeErr := io.WriteString(l.word, "stopped\n")
	err := errors.Join(writeErr, l.word.Close(), l.guard.Wait())
	l.guard = nil
	if err != nil {
		return fmt.Errorf("ending the guard process: %w", err)
	}
	return nil
}

// ownGroup prevents that Ctrl-C in a terminal reaches a child, because Stop stops the programs in order.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// quote returns s as one word of a shell script.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
