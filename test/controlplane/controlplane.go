// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts and stops a real Kubernetes control plane, built from this repository's tool modules,
// for tests and for the demo.
//
// It does not run containers: nodes are simulated, so pods get the states that a kubelet would report, but no
// process. Package node adds a real node with Run.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Options select the parts of a control plane. The zero value is only etcd and kube-apiserver, which are ready in a
// few seconds.
type Options struct {
	// Dir holds data, certificates, kubeconfigs and logs. Empty means a directory
	// of its own, which Stop removes.
	Dir string
	// Controllers adds kube-controller-manager, which creates the pods of Deployments, empties deleted namespaces,
	// collects garbage and requires ServiceAccounts.
	Controllers bool
	// Nodes is the number of simulated nodes. kube-scheduler places pods on them, and kwok simulates them. A
	// positive number implies Controllers.
	Nodes int
	// Scheduler adds kube-scheduler for nodes that the caller adds; it implies Controllers.
	Scheduler bool
	// Address is the host:port on which kube-apiserver listens, and which pods use. Empty means a free port of the
	// loopback, which pods cannot reach.
	Address string
	// FeatureGates are set on every Kubernetes program that is started.
	FeatureGates map[string]bool
	// APIServerArgs are flags of kube-apiserver without their dashes; they replace
	// the ones set here.
	APIServerArgs map[string]string
	// EtcdQuota limits the size of etcd's data in bytes; 0 for etcd's default, 2 GiB.
	EtcdQuota int64
	// Log receives one line for each step; nil disables it.
	Log io.Writer
}

// ControlPlane is a running control plane. Its methods may be called until Stop.
type ControlPlane struct {
	options    Options
	dir        string
	temporary  bool
	launcher   *launcher
	base       *envtest.ControlPlane
	second     *envtest.APIServer // nil without one
	config     *rest.Config
	kubeconfig string
	programs   []*program // kube-controller-manager, kube-scheduler, kwok: what was started, in order
	files      []io.Closer
}

// Start starts a control plane, and returns when it serves, its controllers work and its nodes are ready. ctx
// limits only the start. After an error no program runs, and the error names the folder of the logs.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.Nodes > 0 || options.Scheduler {
		options.Controllers = true
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	c := &ControlPlane{options: options, dir: options.Dir}
	binaries, err := binariesFor(options)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(binaries); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (logs in %s)", err, c.logs()), c.stop())
	}
	return c, nil
}

// Of returns a control plane that is started and stopped by others, for the path of its administrator's kubeconfig.
// It has no programs, and Stop does nothing.
func Of(kubeconfig string) (*ControlPlane, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %q: %w", kubeconfig, err)
	}
	config.QPS = -1
	return &ControlPlane{config: config, kubeconfig: kubeconfig}, nil
}

// Config returns the cluster administrator's configuration, without client-side rate limiting.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the path of the cluster administrator's kubeconfig.
func (c *ControlPlane) Kubeconfig() string { return c.kubeconfig }

// Dir returns the folder of this control plane's data, certificates, kubeconfigs and logs.
func (c *ControlPlane) Dir() string { return c.dir }

// Bin returns the path of one of the repository's built tools, as the function Bin does.
func (c *ControlPlane) Bin(name string) (string, error) { return Bin(name) }

// Stop stops all programs, and removes the directory unless Options.Dir is set. A second call does nothing.
func (c *ControlPlane) Stop() error {
	err := c.stop()
	if c.temporary {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}

// keep makes Stop keep the directory, for its logs.
func (c *ControlPlane) keep() string {
	c.temporary = false
	return c.logs()
}

func (c *ControlPlane) logs() string { return filepath.Join(c.dir, "logs") }

func (c *ControlPlane) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(c.options.Log, format+"\n", args...)
}

func (c *ControlPlane) prepare(binaries map[string]string) error {
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "control-plane-")
		if err != nil {
			return fmt.Errorf("making a directory for the control plane: %w", err)
		}
		c.dir, c.temporary = dir, true
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return fmt.Errorf("resolving %q: %w", c.dir, err)
	}
	c.dir = dir
	for _, sub := range []string{"certs", "etcd", "kubeconfigs", "logs", "run"} {
		if err := os.MkdirAll(filepath.Join(c.dir, sub), 0o700); err != nil {
			return fmt.Errorf("making the control plane's directories: %w", err)
		}
	}
	c.launcher, err = newLauncher(c.dir, binaries)
	return err
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.startBase(ctx); err != nil {
		return err
	}
	if c.options.Controllers {
		if err := c.startControllers(ctx); err != nil {
			return err
		}
	}
	if c.options.Nodes > 0 {
		return c.startNodes(ctx)
	}
	if c.options.Scheduler {
		return c.startScheduler(ctx)
	}
	return nil
}

func (c *ControlPlane) logFile(name string) (io.Writer, error) {
	file, err := openLog(c.dir, name)
	if err != nil {
		return nil, err
	}
	c.files = append(c.files, file)
	return file, nil
}

func (c *ControlPlane) featureGates() string {
	gates := make([]string, 0, len(c.options.FeatureGates))
	for name, on := range c.options.FeatureGates {
		gates = append(gates, fmt.Sprintf("%s=%t", name, on))
	}
	return strings.Join(gates, ",")
}

// stop stops the programs: first all that use the API server, at once, then the API server, then etcd.
func (c *ControlPlane) stop() error {
	var errs []error
	for _, p := range c.programs {
		p.signalEnd()
	}
	for _, p := range c.programs {
		errs = append(errs, p.wait())
	}
	c.programs = nil
	if c.second != nil {
		errs = append(errs, c.second.Stop())
		c.second = nil
	}
	if c.base != nil {
		errs = append(errs, c.base.Stop())
		c.base = nil
	}
	for _, file := range c.files {
		errs = append(errs, file.Close())
	}
	c.files = nil
	if c.launcher != nil {
		errs = append(errs, c.launcher.close())
	}
	return errors.Join(errs...)
}
