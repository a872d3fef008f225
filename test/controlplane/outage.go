// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// StopAPIServer stops only kube-apiserver, as in an outage.
func (c *ControlPlane) StopAPIServer() error {
	if err := c.base.APIServer.Stop(); err != nil {
		return fmt.Errorf("stopping kube-apiserver: %w", err)
	}
	return c.launcher.forget("kube-apiserver")
}

// StartAPIServer starts kube-apiserver again, with the same address, certificates and data.
func (c *ControlPlane) StartAPIServer() error {
	if err := c.base.APIServer.Start(); err != nil {
		return fmt.Errorf("starting kube-apiserver: %w", err)
	}
	return nil
}

// KillAPIServer kills kube-apiserver without a graceful shutdown.
func (c *ControlPlane) KillAPIServer(ctx context.Context) error {
	return c.kill(ctx, "kube-apiserver")
}

// RestartAPIServer kills kube-apiserver and starts it with additional flags, given without their dashes, as in an
// upgrade or a downgrade.
func (c *ControlPlane) RestartAPIServer(ctx context.Context, flags map[string]string) error {
	if err := c.KillAPIServer(ctx); err != nil {
		return err
	}
	for name, value := range flags {
		c.base.APIServer.Configure().Set(name, value)
	}
	return c.StartAPIServer()
}

// KillEtcd kills etcd without a graceful shutdown. Confirmed writes are on the disk.
func (c *ControlPlane) KillEtcd(ctx context.Context) error { return c.kill(ctx, "etcd") }

// StartEtcd starts etcd again, with the same address and data.
func (c *ControlPlane) StartEtcd() error {
	if err := c.base.Etcd.Start(); err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	return nil
}

// Store writes a value directly to etcd, as an earlier release of the API server may have stored it.
func (c *ControlPlane) Store(ctx context.Context, key string, value []byte) error {
	text, err := json.Marshal(map[string][]byte{"key": []byte(key), "value": value})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.Etcd.URL.JoinPath("v3/kv/put").String(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("putting %s into etcd: %w", key, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("putting %s into etcd: %s", key, answer.Status)
	}
	return nil
}

// Freeze stops one of the control plane's processes with a signal. The returned function makes it continue.
func (c *ControlPlane) Freeze(name string) (thaw func() error, err error) {
	pid, err := c.launcher.pid(name)
	if err != nil {
		return nil, err
	}
	thaw = func() error {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return fmt.Errorf("continuing %s: %w", name, err)
		}
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("stopping %s: %w", name, err)
	}
	if err := poll(context.Background(), name+" to stop", func(context.Context) error { return hasStopped(pid) }); err != nil {
		return nil, errors.Join(err, thaw())
	}
	return thaw, nil
}

// hasStopped returns an error while a thread of a process still runs: the signal has to reach one of them, and
// on a busy machine the others serve requests until it has. Without /proc nobody can tell.
func hasStopped(pid int) error {
	states, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return err
	}
	for _, path := range states {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // The thread has ended.
		}
		if err != nil {
			return err
		}
		// The state follows the name, which is in parentheses and may contain parentheses.
		if _, state, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')'):]), " "); !strings.HasPrefix(state, "T") {
			return fmt.Errorf("thread %s is in state %.1s", filepath.Base(filepath.Dir(path)), state)
		}
	}
	return nil
}

// kill kills a program, and returns after it has ended.
func (c *ControlPlane) kill(ctx context.Context, name string) error {
	pid, err := c.launcher.pid(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing %s: %w", name, err)
	}
	err = poll(ctx, name+" to be gone", func(context.Context) error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return errors.New("it is there")
		}
		return nil
	})
	return errors.Join(err, c.launcher.forget(name))
}

// pid returns the process id that a program recorded at its start.
func (l *launcher) pid(name string) (int, error) {
	text, err := os.ReadFile(l.pidFile(name))
	if err != nil {
		return 0, fmt.Errorf("finding the process of %s: %w", name, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
