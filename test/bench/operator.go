// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

// home is the operator namespace.
const home = "vector-system"

// program is the operator's program. It runs as a process, so that the kernel accounts its cost.
type program struct {
	path, kubeconfig, logs string
	environment, arguments []string
	// memoryLimit is that of its container, in bytes; 0 stands for the chart's.
	memoryLimit int64
	starts      int
}

// The memory limits of the operator in values.yaml and in values/production.yaml.
const (
	chartLimit      = 256 << 20
	productionLimit = 512 << 20
)

// process is a running operator.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
	// toReady is the time from its start until it was ready.
	toReady time.Duration
	pprof   string
}

// start starts the operator and waits until it is ready.
func (p *program) start(ctx context.Context) (*process, error) {
	p.starts++
	log, err := os.Create(filepath.Join(p.logs, fmt.Sprintf("operator-%d.log", p.starts)))
	if err != nil {
		return nil, fmt.Errorf("making the operator's log: %w", err)
	}
	defer log.Close() // The process has a descriptor of its own.
	health, err := freeport.Loopback()
	if err != nil {
		return nil, err
	}
	profiles, err := freeport.Loopback()
	if err != nil {
		return nil, err
	}
	o := &process{ended: make(chan struct{}), pprof: profiles}
	o.command = exec.Command(p.path, append([]string{"--environment=development", "--namespace=" + home,
		"--health-probe-bind-address=" + health, "--metrics-bind-address=0", "--pprof-bind-address=" + profiles}, p.arguments...)...)
	softLimit := cmp.Or(p.memoryLimit, chartLimit) * 9 / 10 // The share that the operator takes of its container's.
	o.command.Env = append([]string{"KUBECONFIG=" + p.kubeconfig, "HOME=" + p.logs, "GOGC=50", fmt.Sprintf("GOMEMLIMIT=%d", softLimit)}, p.environment...)
	o.command.Stdout, o.command.Stderr = log, log
	began := time.Now()
	if err := o.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	go func() {
		_ = o.command.Wait() // Its state tells how it ended.
		close(o.ended)
	}()
	err = until(ctx, "the operator to be ready", func() (bool, error) { return o.isReady(ctx, "http://"+health+"/readyz") })
	if err != nil {
		return nil, errors.Join(err, o.stop(), fmt.Errorf("its log is %s", log.Name()))
	}
	o.toReady = time.Since(began)
	return o, nil
}

func (o *process) isReady(ctx context.Context, url string) (bool, error) {
	select {
	case <-o.ended:
		return false, errors.New("the operator has ended")
	default:
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, nil // It does not listen yet.
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK, nil
}

func (o *process) pid() int { return o.command.Process.Pid }

// stop stops the operator gracefully.
func (o *process) stop() error {
	if err := o.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the operator: %w", err)
	}
	<-o.ended
	if code := o.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the operator ended with %d", code)
	}
	return nil
}
