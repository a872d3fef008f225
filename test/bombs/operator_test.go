// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// limit is the memory limit of the operator's container in the chart.
const limit = 256 << 20

// running is an operator process with a memory limit.
type running struct {
	*harness.Process

	webhook string
}

// start starts an operator as the chart does, with additional arguments.
func start(t *testing.T, arguments ...string) *running {
	t.Helper()
	return startAt(t, plane.Kubeconfig(), arguments...)
}

// startAt starts an operator against the cluster of a kubeconfig.
func startAt(t *testing.T, kubeconfig string, arguments ...string) *running {
	t.Helper()
	webhook := freeport.ForTest(t)
	return &running{webhook: webhook, Process: harness.StartProcess(t, program, kubeconfig, harness.Settings{
		Arguments:   append(arguments, "--namespace="+own, "--webhook-bind-address="+webhook, "--webhook-certificate-secret="+certificateSecret),
		MemoryLimit: limit,
	})}
}

// lives reports whether the process is running.
func (o *running) lives() bool {
	select {
	case <-o.Ended():
		return false
	default:
		return true
	}
}

// isReady reports whether the operator is ready.
func (o *running) isReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.Health+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// until waits for a condition while the operator runs, at most for the patience. It reports whether the condition
// is met.
func (o *running) until(ctx context.Context, patience time.Duration, is func(context.Context) bool) bool {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if !o.lives() {
			return false, context.Canceled
		}
		return is(ctx), nil
	})
	return err == nil
}

// rest waits until the operator has nothing to do, so that it uses no more CPU time.
func (o *running) rest(t *testing.T, patience time.Duration) bool {
	t.Helper()
	last, since := time.Duration(-1), time.Now()
	return o.until(t.Context(), patience, func(context.Context) bool {
		used, err := harness.CPU(o.Pid())
		if err != nil || used-last > 10*time.Millisecond {
			last, since = used, time.Now()
		}
		return time.Since(since) > 300*time.Millisecond
	})
}

// warm makes the operator inject once.
func (o *running) warm(t *testing.T) {
	t.Helper()
	namespace := world.Namespace(t)
	app := objects.NewDeployment("warm", namespace).Labeled(label, "warm").Build()
	world.Create(t, app, objects.NewVectorSidecar("warm", namespace).Selecting(label, "warm").Build())
	harness.Until(t, world, app, "the sidecar", isInjected)
	require.True(t, o.rest(t, harness.Patience))
}

func isInjected(d *appsv1.Deployment) bool { return d.Annotations[meta.AnnotationInjected] == "true" }

// reportedSidecar returns the VectorSidecar of a bomb after the operator has reported on it, nil before.
func reportedSidecar(ctx context.Context, namespace string) *v1alpha1.VectorSidecar {
	var found v1alpha1.VectorSidecar
	if err := world.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: "bomb"}, &found); err != nil {
		return nil
	}
	ready := apimeta.FindStatusCondition(found.Status.Conditions, meta.ConditionReady)
	if ready == nil || ready.ObservedGeneration != found.Generation {
		return nil
	}
	return &found
}

// plant creates the objects of a bomb in a namespace, and deletes them after the test.
func (b *bomb) plant(t *testing.T, namespace string) {
	t.Helper()
	for _, object := range b.carrier(namespace, b.text) {
		world.Create(t, object)
		t.Cleanup(func() {
			require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
		})
	}
}
