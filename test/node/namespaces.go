// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// inside is the environment variable with the run that a process belongs to.
const inside = "VSO_NODE_RUN"

// endTimeout is the maximum time for a program to exit after a signal.
const endTimeout = 20 * time.Second

// enter runs this program again in namespaces of a new run, until it ends, and removes
// what the run left. It returns the program's exit code.
func enter(ctx context.Context) (int, error) {
	removed, err := RemoveDead()
	if err != nil {
		return 1, err
	}
	for _, id := range removed {
		fmt.Printf("removed what run %s left, which was killed\n", id)
	}
	r, err := NewRun()
	if err != nil {
		return 1, err
	}
	code, err := r.again(ctx)
	if code != 0 && err == nil { // It ran.
		logs, keepErr := r.keepLogs()
		fmt.Fprintln(os.Stderr, "logs of the node are kept in", logs)
		err = errors.Join(err, keepErr)
	}
	return code, errors.Join(err, r.Remove())
}

func (r *Run) again(ctx context.Context) (int, error) {
	if err := makeCgroups(r.Cgroup()); err != nil {
		return 1, Missing(fmt.Sprintf("a node needs cgroups that it may change (%v): run it as root of the machine, and not of a container", err))
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...) //nolint:gosec // it is this program itself, as it was called
	command.Args[0] = os.Args[0]
	// The program may finish its work. A terminal has already sent the signal.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = endTimeout
	command.Env = append(os.Environ(), inside+"="+r.ID)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.ExtraFiles = []*os.File{r.lock}
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		// It is the first process of its namespace, so all others there end with it.
		Pdeathsig: syscall.SIGKILL,
	}
	// The signal above is sent at the end of the thread that started the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := command.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return max(1, ended.ExitCode()), nil
	}
	if err != nil {
		return 1, Missing(fmt.Sprintf("a node needs namespaces of its own (%v): run it as root of the machine, and not of a container", err))
	}
	return 0, nil
}

// settle makes the namespaces that this process was started in a place for a node.
func (r *Run) settle(s *system) error {
	syscall.CloseOnExec(3)                    // The lock is held by this process, and not by what it starts.
	outside, err := os.Readlink("/proc/self") // Of the machine, until it is covered.
	if err != nil {
		return fmt.Errorf("looking for the number of this process: %w", err)
	}
	if r.Process, err = strconv.Atoi(outside); err != nil {
		return fmt.Errorf("looking for the number of this process: %w", err)
	}
	// What is mounted from here on is seen in here alone.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	for _, each := range []struct{ source, target, kind string }{
		{"proc", "/proc", "proc"},
		{"tmpfs", "/run", "tmpfs"},
	} {
		if err := syscall.Mount(each.source, each.target, each.kind, 0, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", each.target, err)
		}
	}
	// Programs of a node have folders that no option names. They write here, and the
	// machine's stay as they are.
	for _, dir := range []string{"/var/lib", "/var/log", "/etc"} {
		if err := r.cover(dir); err != nil {
			return err
		}
	}
	if err := s.tryKernel(); err != nil {
		return err
	}
	return errors.Join(r.showSettings(), s.connect(), r.link(s))
}

// cover has what is written to a folder go to the run's own.
func (r *Run) cover(dir string) error {
	own := filepath.Join(r.Dir(), "covers", dir)
	upper, work := filepath.Join(own, "upper"), filepath.Join(own, "work")
	if err := errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755)); err != nil {
		return err
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir, upper, work)
	if err := syscall.Mount("overlay", dir, "overlay", 0, options); err != nil {
		return Missing(fmt.Sprintf("a node needs overlay mounts (%v): modprobe overlay", err))
	}
	return nil
}

// settings are those of the kernel that a kubelet would set for the whole machine if they
// were others. It reads them from files of the run that say what it wants.
var settings = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0",
	"kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

func (r *Run) showSettings() error {
	dir := filepath.Join(r.Dir(), "settings")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, value := range settings {
		shown := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(shown, []byte(value+"\n"), 0o600); err != nil {
			return err
		}
		if err := syscall.Mount(shown, "/proc/sys/"+name, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("covering the setting %s: %w", name, err)
		}
	}
	return nil
}

// connect makes the network: the loopback, and a bridge without ports that has the
// addresses of the node and of the API server.
func (s *system) connect() error {
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", "node", "type", "bridge"},
		append([]string{"address", "add", fmt.Sprintf("%s/%d", s.network.own, s.network.ownBits), "dev", "node"}, s.network.flags...),
		append([]string{"address", "add", fmt.Sprintf("%s/%d", s.network.apiServer, s.network.bits), "dev", "node"}, s.network.flags...),
		{"link", "set", "node", "up"},
		{"route", "add", s.network.services, "dev", "node"},
	} {
		if printed, err := exec.Command(s.ip, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w\n%s", args, err, printed)
		}
	}
	return os.WriteFile("/proc/sys/net/"+s.network.forwarding, []byte("1"), 0o600)
}

// link puts the programs of iptables that this kernel takes before all others.
func (r *Run) link(s *system) error {
	dir := filepath.Join(r.Dir(), "path")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	beside, name := filepath.Split(s.iptables)
	for _, family := range []string{"iptables", "ip6tables"} {
		for _, end := range []string{"", "-save", "-restore"} {
			program := filepath.Join(beside, family+name[len("iptables"):]+end)
			if err := os.Symlink(program, filepath.Join(dir, family+end)); err != nil {
				return err
			}
		}
	}
	return os.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}
