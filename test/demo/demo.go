// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// step is a step of the demo. It returns an error if the cluster is not as shown.
type step struct {
	title string
	run   func(*demo, context.Context) error
}

// steps returns the steps of the demo.
func steps() []step {
	return []step{
		{"Start a Kubernetes control plane with simulated nodes", (*demo).startControlPlane},
		{"Install the operator with helm, for production", (*demo).install},
		{"Deploy an application that knows nothing of Vector", (*demo).deployApplication},
		{"Run the operator as the chart's ServiceAccount", (*demo).runOperator},
		{"Ask for a sidecar wherever a label says so", (*demo).applySidecar},
		{"Explain why it has no sidecar, and plan the label", (*demo).explainAndPlan},
		{"Label the application: its pods get the sidecar", (*demo).inject},
		{"See all sidecars, and check the installation", (*demo).showInstallation},
		{"Restart the operator: nothing is written", (*demo).restartOperator},
		{"Change one value: exactly one rollout", (*demo).changeLogLevel},
		{"Roll out a broken image: the canary is reverted", (*demo).failCanary},
		{"Do the same for other kinds of workloads", (*demo).otherKinds},
		{"Take it out: not a trace is left", (*demo).remove},
		{"Uninstall the operator", (*demo).uninstall},
	}
}

// demo is the state that the steps share. Each step uses the results of earlier ones.
type demo struct {
	*screen
	root string // the repository
	dir  string // data and logs of everything that is started

	// node is the real node, nil if nodes are simulated.
	node   *realNode
	plane  *controlplane.ControlPlane
	client client.WithWatch // the cluster administrator's
	// programs are the paths of tools in PATH, by name. If a path is empty, the tool is that in bin.
	programs map[string]string
	// hasRollouts reports whether Argo Rollouts is available.
	hasRollouts bool
	// patience is the maximum duration of each wait.
	patience time.Duration

	// operator is the running process, nil if none should run, and on a real node. It is started with these
	// arguments and environment variables, and listens at these addresses.
	operator               *process
	arguments, environment []string
	addresses              addresses
	// hooks runs the chart's Jobs and test Pods, whose own pods are simulated, until endHooks is called.
	hooks    *harness.StandIn
	endHooks context.CancelFunc

	// original is the application before the injection, and injected after it.
	original, injected application
}

// newDemo returns a demo on simulated nodes, or on a real one.
func newDemo(s *screen, node *realNode) (*demo, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	if node != nil {
		return &demo{screen: s, root: root, dir: node.plane.Dir(), node: node, patience: patienceOnNode}, nil
	}
	dir, err := os.MkdirTemp("", "vector-sidecar-demo-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the demo: %w", err)
	}
	return &demo{screen: s, root: root, dir: dir, patience: patience}, nil
}

// repository returns the root folder of the repository.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "chart", "Chart.yaml")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the repository: no chart/Chart.yaml here or above; run \"make demo\" in the repository")
		}
		dir = parent
	}
}

// play runs the steps, waits for Ctrl-C unless once is set, and stops everything. It returns the exit code.
func (d *demo) play(ctx context.Context, once bool) int {
	acts := steps()
	if d.node == nil {
		d.title("Vector Sidecar Operator: the main job, on a control plane of its own")
	} else {
		d.title("Vector Sidecar Operator: the main job, on a real node")
		acts = stepsOnNode()
	}
	for _, name := range slices.Sorted(maps.Keys(d.programs)) {
		if path := d.programs[name]; path != "" {
			d.line("using %s from PATH: %s", name, path)
		}
	}
	results, err := d.runSteps(ctx, acts)
	if err == nil {
		d.summary(acts, results)
	}
	switch {
	case err == nil && once:
		d.tryNext()
	case err != nil:
	case d.node == nil:
		err = d.stay(ctx)
	default:
		err = d.stayOnNode(ctx)
	}
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		d.failed(ctx, err)
	}
	// The context may be canceled, but the started programs must be stopped.
	if stopErr := d.stop(err == nil || interrupted); stopErr != nil {
		d.failed(ctx, stopErr)
		return 1
	}
	switch {
	case interrupted && len(results) < len(acts):
		d.line("interrupted; everything that was started has ended")
		return 130
	case err != nil && !interrupted:
		return 1
	}
	d.line("everything that was started has ended")
	return 0
}

// runSteps runs the steps, and returns the duration of each successful one.
func (d *demo) runSteps(ctx context.Context, acts []step) ([]time.Duration, error) {
	var took []time.Duration
	for i, act := range acts {
		began := time.Now()
		d.heading(i+1, act.title)
		if err := act.run(d, ctx); err != nil {
			return took, fmt.Errorf("step %d (%s): %w", i+1, act.title, err)
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

func (d *demo) summary(acts []step, took []time.Duration) {
	d.title("As shown")
	total := time.Duration(0)
	for i, act := range acts {
		total += took[i]
		d.line("%2d  %-54s %6.1f s  %s", i+1, act.title, took[i].Seconds(), d.paint(green, "ok"))
	}
	d.line("    %-54s %6.1f s", "", total.Seconds())
	d.line("")
}

// failed reports the mismatch, and where the logs are.
func (d *demo) failed(ctx context.Context, err error) {
	d.line("")
	d.line("%s %s", d.paint(red, "NOT AS SHOWN:"), err)
	if d.operator != nil {
		d.line("")
		_ = d.showConditions(ctx) // As far as there is one to show.
		d.line("")
		d.line("the operator's last words:")
		d.block(lastLines(d.operator.log, 15))
	}
	if d.node != nil {
		d.showNode(ctx)
	}
	d.line("logs are in %s", filepath.Join(d.dir, "logs"))
}

// stop stops the started programs in reverse order. It keeps the logs after an error.
func (d *demo) stop(clean bool) error {
	if d.node != nil {
		return nil // It ends with this process, and all that runs on it.
	}
	var errs []error
	if d.endHooks != nil {
		d.endHooks()
	}
	if d.operator != nil {
		errs = append(errs, d.operator.stop())
	}
	if d.plane != nil {
		errs = append(errs, d.plane.Stop())
	}
	leftover := filepath.Join(d.dir, "etcd") // Large, and no log.
	if clean && errors.Join(errs...) == nil {
		leftover = d.dir
	}
	return errors.Join(append(errs, os.RemoveAll(leftover))...)
}
