// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

var (
	seed   = flag.Uint64("seed", 1, "what workloads are drawn by; 0 for another one each time")
	only   = flag.String("only", "", "a regular expression: of the workloads drawn, those whose description it matches, to see again what a long run has shown")
	number = flag.Int("workloads", 8, "how many workloads are tried with every sample that they can take; 0 for every value of every field, and as many combinations")
	world  *harness.World
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	flag.Parse()
	os.Exit(controlplane.Main(m, controlplane.Options{}, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		if err := world.ServeRollouts(); err != nil {
			return nil, err
		}
		running := world.RunOperator(operator.Options{Namespace: "vector-system", WorkloadKinds: kindNames()})
		return running.Stop, nil
	}))
}

func kindNames() []string {
	var names []string
	for _, kind := range Kinds() {
		names = append(names, kind.Name)
	}
	return names
}
