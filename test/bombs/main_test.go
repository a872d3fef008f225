// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// own is the operator namespace.
const own = "vector-system"

// Set by TestMain.
var (
	plane   *controlplane.ControlPlane
	world   *harness.World
	program string
)

var (
	full  = flag.Bool("full", false, "all of it, measured")
	few   = flag.Bool("few", false, "a few bombs, within seconds")
	only  = flag.String("bombs", "", "a regular expression: the kinds to try")
	large = flag.Int("large", 1000, "how many large objects a tenant has")
	seed  = flag.Uint64("seed", 0, "that of the generated bombs; 0 for one of its own")
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	folder, err := os.MkdirTemp("", "operator-")
	if err != nil {
		panic(err)
	}
	code := controlplane.Main(m, controlplane.Options{}, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		plane = c
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		if program, err = harness.BuildOperator(context.Background(), folder); err != nil {
			return nil, err
		}
		return nil, prepare(context.Background(), world)
	})
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// unlessAsked skips a test unless a flag enables it.
func unlessAsked(t *testing.T) {
	t.Helper()
	if !*full && !*few {
		t.Skip("only in make bombs")
	}
}

// prepare creates the objects that the operator needs in its namespace.
func prepare(ctx context.Context, world *harness.World) error {
	if err := world.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}}); err != nil {
		return err
	}
	secret, err := certified()
	if err != nil {
		return err
	}
	return world.Client.Create(ctx, secret)
}
