// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// group is a control group with a memory limit, like that of a container. Only root may create one, and not in most
// containers.
type group struct{ folder string }

// newGroup creates a group in the version of control groups that this machine has.
func newGroup(limit int64) (*group, error) {
	var failures []error
	for root, file := range map[string]string{
		"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max",
	} {
		folder, err := os.MkdirTemp(root, "operator-")
		if err == nil {
			if err = overwrite(filepath.Join(folder, file), strconv.FormatInt(limit, 10)); err == nil {
				return &group{folder}, nil
			}
			err = errors.Join(err, os.Remove(folder))
		}
		failures = append(failures, err)
	}
	return nil, fmt.Errorf("making a control group: %w", errors.Join(failures...))
}

// overwrite writes an existing file of the kernel. A missing file is an error: the controller is mounted elsewhere or
// does not exist.
func overwrite(file, text string) error {
	opened, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = opened.WriteString(text)
	return errors.Join(err, opened.Close())
}

// enter starts a command in the group.
func (g *group) enter(cmd *exec.Cmd) {
	shell := exec.Command("/bin/sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.folder, "cgroup.procs")}, cmd.Args...)...)
	cmd.Path, cmd.Args = shell.Path, shell.Args
}

// remove removes the group after its processes have ended.
func (g *group) remove() {
	for deadline := time.Now().Add(Patience); os.Remove(g.folder) != nil && time.Now().Before(deadline); {
		<-time.After(poll) // The kernel takes a moment after the last process.
	}
}

// confine limits the memory of a command, in a group or, if that is not permitted, with a limit of its data segment,
// which is twice as large. Call the returned function when the command has ended.
func confine(cmd *exec.Cmd, limit int64) (release func(), isExact bool) {
	if g, err := newGroup(limit); err == nil {
		g.enter(cmd)
		return g.remove, true
	}
	const script = `ulimit -d "$0" && exec "$@"`
	shell := exec.Command("/bin/sh", append([]string{"-c", script, strconv.FormatInt(limit*2>>10, 10)}, cmd.Args...)...)
	cmd.Path, cmd.Args = shell.Path, shell.Args
	cmd.Env = append(cmd.Env, "GOMEMLIMIT="+strconv.FormatInt(limit/10*9, 10)) // There is no limit to be read.
	return func() {}, false
}
