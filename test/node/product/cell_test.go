// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node/delivery"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// cell is one row in one way: an application whose lines are collected from.
type cell struct {
	*testing.T

	way       delivery.Way
	collector *collector
	app       *appsv1.Deployment
	sidecar   *v1alpha1.VectorSidecar
}

// diskBuffer is the smallest that Vector takes.
const diskBuffer = 268435488

// newCell makes an application that is injected and has no pod yet.
func newCell(t *testing.T, way delivery.Way, s *scenario) *cell {
	t.Helper()
	c := &cell{T: t, way: way, collector: newCollector(t)}
	space := restricted(t)
	sink := map[string]any{"type": "http", "uri": "http://" + c.collector.lines + "/lines"}
	if way.IsOnDisk {
		sink["buffer"] = map[string]any{"type": "disk", "max_size": diskBuffer, "when_full": "block"}
	}
	raw, err := json.Marshal(sink)
	require.NoError(t, err)
	// Where a node is drained of its pods, it is found by its label.
	name := "app-" + strings.ReplaceAll(way.String(), ", ", "-")
	c.app = writer(name, space, append([]string{"--collector=http://" + c.collector.wrote}, s.args...)...).WithReplicas(0).Build()
	c.app.Spec.Template.Spec.TerminationGracePeriodSeconds = s.grace
	c.sidecar = collecting(space).Sidecar(func(spec *v1alpha1.SidecarSpec) {
		spec.Native, spec.LogLevel = v1alpha1.NativeMode("Never"), "info"
		if way.IsNative {
			spec.Native = "Always"
		}
		spec.Sinks = map[string]apiextensionsv1.JSON{"collector": {Raw: raw}}
		spec.Resources = example.Requests("1m", "8Mi") // All of them are on one node.
		if way.IsGated {
			spec.Shutdown = gated()
		}
		if way.IsOnDisk {
			spec.Data = &v1alpha1.DataSpec{SizeLimit: ptr.To(resource.MustParse("1Gi"))}
		}
		if s.sidecar != nil {
			s.sidecar(spec)
		}
	}).Build()
	world.Create(t, c.sidecar, c.app)
	eventually(t, "the Deployment to be injected", func() bool {
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(c.app), c.app))
		pod := corev1.Pod{Spec: c.app.Spec.Template.Spec}
		return containerOf(&pod, sidecar) != nil
	})
	return c
}

// start starts the application's pod, and waits until lines come.
func (c *cell) start() *corev1.Pod {
	c.Helper()
	scale(c.T, c.app, 1)
	pod := running(c.T, c.app, true)
	c.more(1)
	return pod
}

// more waits until so many more lines have come.
func (c *cell) more(lines int) {
	c.Helper()
	before, _ := c.collector.came()
	eventually(c.T, "lines to come", func() bool {
		now, _ := c.collector.came()
		return now >= before+lines
	})
}

// upToDate waits until Vector has caught up with what is written by now: not what a backlog
// at the end loses is counted then, but what the row is about.
func (c *cell) upToDate() {
	c.Helper()
	written := c.collector.written()
	eventually(c.T, "Vector to catch up", func() bool { return c.collector.isPast(written) })
}

// mayCatchUp gives Vector a minute to catch up: what it has not read by the end counts as lost.
func (c *cell) mayCatchUp() {
	written := c.collector.written()
	err := wait.PollUntilContextTimeout(c.Context(), time.Second, time.Minute, true, func(context.Context) (bool, error) {
		return c.collector.isPast(written), nil
	})
	if err != nil {
		c.Log("Vector does not catch up within a minute")
	}
}

// quiet waits until no line has come for a while.
func (c *cell) quiet(d time.Duration) {
	c.Helper()
	eventually(c.T, "the application to be quiet", func() bool {
		_, ago := c.collector.came()
		return ago > d
	})
}

// end ends all pods, waits until they are gone, and returns what became of their lines.
func (c *cell) end() delivery.Cell {
	c.Helper()
	scale(c.T, c.app, 0)
	c.gone()
	sum, silent := c.collector.count()
	c.Log(c.collector.missing())
	if len(silent) > 0 {
		c.Logf("not known of %v: how many lines they wrote", silent)
	}
	require.NotZero(c, sum.Wrote)
	return sum
}

// gone waits until no pod of the application is left.
func (c *cell) gone() {
	c.Helper()
	eventually(c.T, "all pods to be gone", func() bool {
		return len(podsIn(c.T, c.app.Namespace)) == 0
	})
}

// pod is the application's, of which there is one.
func (c *cell) pod() *corev1.Pod {
	c.Helper()
	all := podsOf(c.T, c.app.Name, c.app.Namespace)
	require.NotEmpty(c, all)
	return &all[0]
}

// restarts waits until a container of the pod has been started anew so often, and runs.
func (c *cell) restarts(pod *corev1.Pod, container string, times int32) {
	c.Helper()
	eventually(c.T, container+" to be started anew", func() bool {
		require.NoError(c, cluster.Get(c.Context(), client.ObjectKeyFromObject(pod), pod))
		status := statusOf(pod, container)
		return status.RestartCount >= times && isRunning(status)
	})
}

// replaced waits until another pod runs in the place of this one, which is gone.
func (c *cell) replaced(before *corev1.Pod) {
	c.Helper()
	eventually(c.T, "another pod in the place of "+before.Name, func() bool {
		all := podsOf(c.T, c.app.Name, c.app.Namespace)
		return len(all) == 1 && all[0].Name != before.Name && isReady(&all[0])
	})
	eventually(c.T, before.Name+" to be deleted", func() bool {
		return apierrors.IsNotFound(cluster.Get(c.Context(), client.ObjectKeyFromObject(before), &corev1.Pod{}))
	})
}

// change changes what the application's team asked for.
func (c *cell) change(change func(*v1alpha1.SidecarSpec)) {
	c.Helper()
	before := c.sidecar.DeepCopy()
	require.NoError(c, cluster.Get(c.Context(), client.ObjectKeyFromObject(before), before))
	now := before.DeepCopy()
	change(now.Spec.Sidecar)
	require.NoError(c, cluster.Patch(c.Context(), now, client.MergeFrom(before)))
}

// pass lets time pass, of a scenario that is about how long something takes.
func pass(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
