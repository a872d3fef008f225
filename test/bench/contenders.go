// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"kontroloop.ai/vector-sidecar-operator/test/bench/naive"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// contender injects all of the count Deployments in a namespace.
type contender struct {
	name string
	run  func(ctx context.Context, b *bench, namespace string, count int) (round, error)
}

// round is the cost of one contender for one namespace.
type round struct {
	wall, cpu time.Duration
	memory    int64 // the most that was resident, in bytes
	calls     calls
}

// The names of the contenders.
const (
	byFloor    = "floor"
	byOperator = "operator"
	byKubectl  = "kubectl apply --server-side"
	byNaive    = "naive algorithm"
)

var (
	floorContender    = contender{byFloor, runFloor}
	operatorContender = contender{byOperator, runOperator}
	kubectlContender  = contender{byKubectl, runKubectl}
	naiveContender    = contender{byNaive, runNaive}
)

// runFloor applies the operator's manifests in a plain loop.
func runFloor(ctx context.Context, b *bench, namespace string, count int) (round, error) {
	o, err := newOverlay(ctx, logs(namespace), nil, b.kubeVersion)
	if err != nil {
		return round{}, err
	}
	return b.measure(ctx, namespace, count, os.Getpid(), func(ctx context.Context) error {
		return b.cluster.applyAll(ctx, o, namespace, count)
	})
}

// runNaive injects with the naive algorithm.
func runNaive(ctx context.Context, b *bench, namespace string, count int) (round, error) {
	o, err := newOverlay(ctx, logs(namespace), nil, b.kubeVersion)
	if err != nil {
		return round{}, err
	}
	sidecar, annotations, err := o.template()
	if err != nil {
		return round{}, err
	}
	injector, err := naive.New(b.cluster.fast, sidecar, annotations)
	if err != nil {
		return round{}, err
	}
	return b.measure(ctx, namespace, count, os.Getpid(), func(ctx context.Context) error { return injector.Run(ctx, namespace) })
}

// runKubectl runs kubectl apply with one file that has a manifest for each Deployment.
func runKubectl(ctx context.Context, b *bench, namespace string, count int) (round, error) {
	o, err := newOverlay(ctx, logs(namespace), nil, b.kubeVersion)
	if err != nil {
		return round{}, err
	}
	var text bytes.Buffer
	for n := range count {
		manifest, err := o.manifest(namespace, appName(n))
		if err != nil {
			return round{}, err
		}
		text.WriteString("---\n")
		text.Write(manifest)
		text.WriteString("\n")
	}
	file := filepath.Join(b.folder, "manifests.yaml")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return round{}, err
	}
	kubectl, err := controlplane.Bin("kubectl")
	if err != nil {
		return round{}, err
	}
	command := exec.CommandContext(ctx, kubectl, "--kubeconfig", b.cluster.control.Kubeconfig(), "apply", "--server-side", "-f", file)
	made, err := b.measure(ctx, namespace, count, 0, func(context.Context) error {
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("running kubectl: %w\n%s", err, out[:min(len(out), 2000)])
		}
		return nil
	})
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		made.cpu, made.memory = command.ProcessState.UserTime()+command.ProcessState.SystemTime(), usage.Maxrss<<10
	}
	return made, err
}

// runOperator creates the VectorSidecar while the operator runs.
func runOperator(ctx context.Context, b *bench, namespace string, count int) (made round, err error) {
	operator, err := b.program.start(ctx)
	if err != nil {
		return round{}, err
	}
	defer func() { err = errors.Join(err, operator.stop()) }()
	profiling := b.profile(ctx, operator)
	made, err = b.measure(ctx, namespace, count, operator.pid(), func(ctx context.Context) error {
		return b.cluster.Client.Create(ctx, logs(namespace))
	})
	if err != nil {
		return made, err
	}
	if err := profiling(); err != nil {
		return made, err
	}
	made.memory, err = harness.Memory(operator.pid(), "VmHWM")
	return made, err
}

// measure runs one contender until every Deployment is injected, and counts the calls until no more follow. pid is
// the process whose CPU time counts, 0 for none.
func (b *bench) measure(ctx context.Context, namespace string, count, pid int, run func(context.Context) error) (made round, err error) {
	before, err := b.cluster.quiet(ctx, time.Second)
	if err != nil {
		return made, err
	}
	seen, err := b.cluster.observe(ctx, namespace)
	if err != nil {
		return made, err
	}
	defer seen.stop()
	spent := time.Duration(0)
	if pid != 0 {
		if spent, err = harness.CPU(pid); err != nil {
			return made, err
		}
	}
	began := time.Now()
	if err := run(ctx); err != nil {
		return made, err
	}
	if err := seen.count(ctx, count); err != nil {
		return made, err
	}
	made.wall = time.Since(began)
	if pid != 0 {
		now, err := harness.CPU(pid)
		if err != nil {
			return made, err
		}
		made.cpu = now - spent
	}
	after, err := b.cluster.quiet(ctx, 2*time.Second)
	made.calls = after.since(before)
	return made, err
}
