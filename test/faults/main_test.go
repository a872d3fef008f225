// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// Set by TestMain.
var (
	plane *controlplane.ControlPlane
	world *harness.World
)

var (
	full     = flag.Bool("full", false, "sweep every scenario for every fault, and not only what make test-integration has time for")
	only     = flag.String("scenarios", "", "a regular expression: the scenarios to sweep")
	parallel = flag.Int("runs", 8, "how many runs go on side by side")
	update   = flag.Bool("update", false, "write testdata/writes.txt anew")
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	// Deployments need the controllers. Pods are needed only for failing and random scenarios.
	options := controlplane.Options{Controllers: true}
	if *full {
		options.Nodes = 3 // A thousand pods fit on each.
	}
	ctx := context.Background()
	os.Exit(controlplane.Main(m, options, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		plane = c
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		if err := errors.Join(world.ServeRollouts(), rollOut(ctx)); err != nil {
			return nil, err
		}
		kinds := []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout"}
		if _, err = world.RunAsInstalled(ctx, c, kinds...); err != nil {
			return nil, err
		}
		_, err = world.InjectAtAdmission(ctx, c, kinds...)
		return nil, err
	}))
}
