// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// own is the operator namespace.
const own = "vector-system"

// Set by TestMain.
var (
	plane   *controlplane.ControlPlane
	world   *harness.World
	program string
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	folder, err := os.MkdirTemp("", "operator-")
	if err != nil {
		panic(err)
	}
	// Operators start often in these tests. Without WatchList, as in older versions of Kubernetes, they read existing objects
	// from pages of lists; the API servers of the other suites have WatchList.
	options := controlplane.Options{FeatureGates: map[string]bool{"WatchList": false}}
	code := controlplane.Main(m, options, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		plane = c
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		if program, err = harness.BuildOperator(context.Background(), folder); err != nil {
			return nil, err
		}
		return nil, world.Client.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}})
	})
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// start starts an operator with its own Lease as administrator.
func start(t *testing.T, settings harness.Settings) *harness.Process {
	t.Helper()
	settings.Arguments = append([]string{"--namespace=" + own}, settings.Arguments...)
	return harness.StartProcess(t, program, plane.Kubeconfig(), settings)
}

// labeled creates a Deployment that the VectorSidecars of these tests select.
func labeled(t *testing.T, name, namespace string) *appsv1.Deployment {
	t.Helper()
	deployment := objects.NewDeployment(name, namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment)
	return deployment
}

// sidecar creates a VectorSidecar that selects them and injects all at once.
func sidecar(t *testing.T, namespace string) *v1alpha1.VectorSidecar {
	t.Helper()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Build()
	world.Create(t, vs)
	return vs
}

func isInjected(d *appsv1.Deployment) bool { return d.Annotations[meta.AnnotationInjected] == "true" }

// through returns a world whose requests use the given transport.
func through(wrap func(http roundTripper) roundTripper) *harness.World {
	seen := *world
	seen.Config = rest.CopyConfig(world.Config)
	seen.Config.Wrap(wrapped(wrap))
	return &seen
}

// libraryErrors has messages that libraries log at ERROR although they are expected, each with the errors it may have:
// during a stop, when a namespace is deleted, and when two operators request a free Lease at the same time.
var libraryErrors = map[string][]string{
	"error received after stop sequence was engaged":   {"leader election lost"},
	"Unable to write event (may retry after sleeping)": {"context canceled"},
	"Server rejected event (will not retry!)":          {"because it is being terminated"},
	"Failed to update lease":                           {"context canceled", "the object has been modified"},
	"Error retrieving lease lock":                      {"context canceled"},
}

// noErrors requires that a process logged only expected lines at ERROR.
func noErrors(t *testing.T, p *harness.Process) {
	t.Helper()
	for _, line := range p.Lines(t) {
		if line["level"] == "ERROR" {
			message, _ := line["msg"].(string)
			err, _ := line["error"].(string)
			isExpected := slices.ContainsFunc(libraryErrors[message], func(text string) bool { return strings.Contains(err, text) })
			require.True(t, isExpected, "%v", line)
		}
	}
}
