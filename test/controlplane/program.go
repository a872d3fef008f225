// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	startTimeout = time.Minute // a cold, loaded machine; a warm one needs 3 s
	// stopTimeout is longer than the API server lets requests in progress finish, which is a minute
	// (--request-timeout).
	stopTimeout  = 75 * time.Second
	pollInterval = 50 * time.Millisecond
)

// program is a running child process.
type program struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	err   error         // how it ended; read after ended
}

// run starts a program with its output in its log file.
func (c *ControlPlane) run(name string, args ...string) (*program, error) {
	log, err := openLog(c.dir, name)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has a descriptor of its own
	p := &program{name: name, ended: make(chan struct{}), cmd: exec.Command(c.launcher.path(name), args...)}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Dir = c.dir
	p.cmd.SysProcAttr = ownGroup()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	c.programs = append(c.programs, p)
	return p, nil
}

// Run starts another program of the cluster, such as a kubelet, with its output in a
// log of its name, and waits until it is ready. It ends with the control plane.
func (c *ControlPlane) Run(ctx context.Context, name, path string, ready func(context.Context) error, args ...string) error {
	if err := c.launcher.add(name, path); err != nil {
		return err
	}
	p, err := c.run(name, args...)
	if err != nil {
		return err
	}
	return p.await(ctx, ready)
}

// healthy waits until the program responds at url, and returns an error if it has ended.
func (p *program) healthy(ctx context.Context, url string) error {
	client := &http.Client{
		Timeout: time.Second,
		// A certificate that the program signed itself at start, on the loopback.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // see above
	}
	defer client.CloseIdleConnections()
	return p.await(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	})
}

// await waits until the program is ready, and returns an error if it has ended.
func (p *program) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.ended:
			cancel(fmt.Errorf("it ended: %w", orDone(p.err)))
		case <-ctx.Done():
		}
	}()
	return poll(ctx, p.name, ready)
}

// signalEnd asks the program to end.
func (p *program) signalEnd() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// wait returns when the program has ended. After a timeout it kills the program.
func (p *program) wait() error {
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTimeout):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s: %w", p.name, err)
	}
	<-p.ended
	return nil
}

// poll calls until it succeeds, and returns the last error when ctx or the start's time ends.
func poll(ctx context.Context, what string, until func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, startTimeout, true, func(ctx context.Context) (bool, error) {
		last = until(ctx)
		return last == nil, nil
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("waiting for %s: %w", what, errors.Join(err, last))
}

func openLog(dir, name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "logs", name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	return file, nil
}

func orDone(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

func since(began time.Time) time.Duration { return time.Since(began).Round(100 * time.Millisecond) }
